// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Functional.hpp>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "karpos/detail/slot.hpp"
#include "karpos/detail/unordered_map/packed_slots.hpp"
#include "karpos/detail/unordered_map/wide_slots.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"
#include "karpos/rows.hpp"

// What an unordered_map is made of: by default, and by the types of its keys and values.

namespace karpos::detail::unordered_map {

template <class Key>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Kokkos::complex<T>> = sizeof(T) <= 8;

/// Default hash of keys of any size: of numbers, complex ones too, as hash<Key> has it; of everything else of the bytes, so that
/// equal keys must have equal bytes.
template <class Key>
struct default_hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION constexpr std::uint64_t operator()(Key const& key) const {
    if constexpr (is_complex<Key>) {
      default_hash<typename Key::value_type> const part;
      return mix(part(key.real()) ^ key_bits_of<std::uint64_t>(key.imag()));
    } else {
      auto const words = words_of(key);
      std::uint64_t h = mix(words.word[0]);
      for (int i = 1; i < words.count; ++i) h = mix(h ^ words.word[i]);
      return h;
    }
  }
};

/// Default equality: ==, but every NaN is one key, of parts of complex numbers, too; the bytes, for a type without ==.
template <class Key>
struct default_equal {
  KOKKOS_FUNCTION constexpr bool operator()(Key const& a, Key const& b) const {
    if constexpr (std::is_floating_point_v<Key>) {
      return a == b || (a != a && b != b);
    } else if constexpr (is_complex<Key>) {
      default_equal<typename Key::value_type> const equal;
      return equal(a.real(), b.real()) && equal(a.imag(), b.imag());
    } else if constexpr (std::equality_comparable<Key>) {
      return a == b;
    } else {
      static_assert(std::has_unique_object_representations_v<Key>,
                    "karpos: keys need an operator==, or an EqualTo");
      auto const x = words_of(a), y = words_of(b);
      bool equal = true;
      for (int i = 0; i < x.count; ++i) equal = equal && x.word[i] == y.word[i];
      return equal;
    }
  }
};

/// Where a mirror for the host lies: in the same memory, if the host reaches that.
template <class Device, class Memory = typename Device::memory_space>
using host_mirror_device = std::conditional_t<
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible,
    Kokkos::DefaultHostExecutionSpace,
    std::conditional_t<device::is_device<typename Device::execution_space>,
                       Kokkos::Device<Kokkos::DefaultHostExecutionSpace, Memory>, Device>>;

template <class EqualTo, class... Known>
inline constexpr bool is_one_of = (std::is_same_v<EqualTo, Known> || ...);
/// Whether keys are equal just if their bits are, so that a packed word can be compared with a key.
template <class Key, class EqualTo>
inline constexpr bool compares_bits =
    sizeof(Key) <= 8 && std::disjunction_v<std::is_integral<Key>, std::is_enum<Key>> &&
    is_one_of<EqualTo, default_equal<Key>, equal_to<Key>, Kokkos::pod_equal_to<Key>,
              std::equal_to<Key>>;

/// Key and Value without const; Value is void in a set.
template <class Key, class Value, class Device, class Hasher, class EqualTo>
struct traits {
  static_assert(std::is_trivially_copyable_v<Key> &&
                    (std::is_void_v<Value> || std::is_trivially_copyable_v<Value>),
                "karpos: keys and values of an unordered_map must be trivially copyable");
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using key_type = Key;
  using value_type = std::conditional_t<std::is_void_v<Value>, no_value, Value>;
  using hasher = Hasher;
  using key_equal = EqualTo;
  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool is_packed =
      compares_bits<Key, EqualTo> && (is_set || sizeof(value_type) <= 8);
  using slots = std::conditional_t<is_packed, packed_slots<Key, value_type, execution_space>,
                                   wide_slots<Key, value_type>>;

  /// Slots that are taken when there are as many keys as a map was made for: such that 4+4, 8+8 and 16+24 bytes take no more memory
  /// than in Kokkos::UnorderedMap, which has a hash list, a chain and 7/6 entries for each.
  static constexpr double load = !is_packed ? 0.8 : sizeof(typename slots::word) == 16 ? 0.6 : 0.5;
  /// Whether insertions and lookups beside them look into the first cache of a GPU first (table.hpp). H200, 2^26 pairs of 4+4
  /// bytes: insertions 10.96 G/s without and 14.6 with, hits 9.1 and 31.5, misses 12.2 and 24.2.
  static constexpr bool looks_first = device::is_device<execution_space>;
};

}  // namespace karpos::detail::unordered_map
