// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Functional.hpp>
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/detail/tables/unordered_map/slots.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"
#include "karpos/rows.hpp"

// The types that make up an unordered_map: the defaults, and those chosen by its keys and values.

namespace karpos::detail::unordered_map {

template <class Key>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Kokkos::complex<T>> = sizeof(T) <= 8;

/// Whether a type is a Kokkos::Array whose bytes do not tell which arrays are equal: its elements
/// are not integers, or have padding.
template <class T>
inline constexpr bool is_memberwise_array = false;
template <class T, std::size_t N>
inline constexpr bool is_memberwise_array<Kokkos::Array<T, N>> =
    N != 0 && !std::has_unique_object_representations_v<T>;

/// Whether objects are copied as bytes; also std::pair, of which only assignment is not trivial.
template <class T>
inline constexpr bool is_copied_as_bytes =
    std::is_trivially_copyable_v<T> ||
    (std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T>);

template <class T>
struct bytes_of {
  unsigned char byte[sizeof(T)];
};
template <class T>
constexpr bool read_bytes() {
  auto const bytes = std::bit_cast<bytes_of<T>>(T{});
  int sum = 0;
  for (unsigned char const b : bytes.byte) sum += b;
  return sum >= 0;
}
template <class T>
concept constexpr_constructible = requires { typename std::bool_constant<(T{}, true)>; };
template <class T>
concept constexpr_readable = requires { typename std::bool_constant<read_bytes<T>()>; };
/// Whether a type is known to have padding: long double, and a class if a compiler can make an
/// object of it, but cannot read all its bytes. Pointers and unions, which it cannot read either,
/// count as padding if they are stored beside floating-point numbers. False if compilers cannot
/// tell, such as for classes whose constructor is not constexpr.
template <class T>
inline constexpr bool has_padding = [] {
  if constexpr (std::is_class_v<T> && !std::has_unique_object_representations_v<T>)
    return constexpr_constructible<T> && !constexpr_readable<T>;
  else
    return std::is_floating_point_v<T> && sizeof(T) > 8;
}();

/// Default hash of keys of any size. Numbers, also complex ones, are hashed as by hash<Key>; pairs
/// and arrays by their members; all else by its bytes, so that equal keys must have equal bytes.
template <class Key>
struct default_hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION constexpr std::uint64_t operator()(Key const& key) const {
    if constexpr (is_complex<Key>) {
      default_hash<typename Key::value_type> const part;
      return mix(part(key.real()) ^ key_bits_of<std::uint64_t>(key.imag()));
    } else if constexpr (is_pair<Key> && !has_key_bits<Key>) {
      default_hash<std::remove_cv_t<decltype(key.first)>> const first;
      return hash_combine(first(key.first), key.second);
    } else if constexpr (is_memberwise_array<Key>) {
      std::uint64_t h = 0;
      for (std::size_t i = 0; i < Key::size(); ++i) h = hash_combine(h, key[i]);
      return h;
    } else {
      static_assert(std::is_trivially_copyable_v<Key>,
                    "karpos: keys that are not trivially copyable need a Hasher");
      static_assert(!has_padding<Key>,
                    "karpos: this key has padding, or members that compilers cannot read, and so "
                    "its bytes may differ in equal keys: pass a Hasher and an EqualTo, or a key of "
                    "pairs");
      auto const words = words_of(key);
      std::uint64_t h = mix(words.word[0]);
      for (int i = 1; i < words.count; ++i) h = mix(h ^ words.word[i]);
      return h;
    }
  }

 private:
  /// Returns the hash of an object: h is the hash of its first members, `member` the next one.
  template <class Member>
  KOKKOS_FUNCTION static constexpr std::uint64_t hash_combine(std::uint64_t h,
                                                              Member const& member) {
    if constexpr (sizeof(Member) <= 8 && (std::is_arithmetic_v<Member> || std::is_enum_v<Member>))
      return mix(h ^ key_bits_of<std::uint64_t>(member));
    else
      return mix(h * 0x9e3779b97f4a7c15u ^ default_hash<Member>()(member));
  }
};

/// Default equality: ==, but all NaNs are one key, also as part of a complex number, a pair or a
/// Kokkos::Array. Compares the bytes if a type has no ==.
template <class Key>
struct default_equal {
  KOKKOS_FUNCTION constexpr bool operator()(Key const& a, Key const& b) const {
    if constexpr (std::is_floating_point_v<Key>) {
      return a == b || (a != a && b != b);
    } else if constexpr (is_complex<Key>) {
      default_equal<typename Key::value_type> const equal;
      return equal(a.real(), b.real()) && equal(a.imag(), b.imag());
    } else if constexpr (is_pair<Key>) {
      default_equal<std::remove_cv_t<decltype(a.first)>> const first;
      default_equal<std::remove_cv_t<decltype(a.second)>> const second;
      return first(a.first, b.first) && second(a.second, b.second);
    } else if constexpr (is_memberwise_array<Key>) {
      default_equal<typename Key::value_type> const equal;
      bool all = true;
      for (std::size_t i = 0; i < Key::size(); ++i) all = all && equal(a[i], b[i]);
      return all;
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

/// The device of a mirror for the host: in the same memory, if the host can access it.
template <class Device, class Memory = typename Device::memory_space>
using host_mirror_device = std::conditional_t<
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible,
    Kokkos::DefaultHostExecutionSpace,
    std::conditional_t<device::is_device<typename Device::execution_space>,
                       Kokkos::Device<Kokkos::DefaultHostExecutionSpace, Memory>, Device>>;

/// Replaces Kokkos' byte-wise hash or equality by the member-wise one for pairs and arrays.
template <class Key, class Given, class OfBytes, class OfMembers>
using memberwise_function =
    std::conditional_t<(is_pair<Key> || is_memberwise_array<Key>)&&std::is_same_v<Given, OfBytes>,
                       OfMembers, Given>;
/// Returns `from`, or a default-made To if the types differ.
template <class To, class From>
KOKKOS_FUNCTION constexpr To function_for(From const& from) {
  if constexpr (std::is_same_v<To, From>)
    return from;
  else
    return To{};
}

template <class EqualTo, class... Known>
inline constexpr bool is_one_of = (std::is_same_v<EqualTo, Known> || ...);
/// Whether keys are equal exactly if their bits are, so that packed words can be compared.
template <class Key, class EqualTo>
inline constexpr bool compares_bits =
    sizeof(Key) <= 8 && std::disjunction_v<std::is_integral<Key>, std::is_enum<Key>> &&
    is_one_of<EqualTo, default_equal<Key>, equal_to<Key>, Kokkos::pod_equal_to<Key>,
              std::equal_to<Key>>;

/// The types of an unordered_map. Key and Value are without const; Value is void in a set.
template <class Key, class Value, class Device, class Hasher, class EqualTo>
struct traits {
  static_assert(
      is_copied_as_bytes<Key> && (std::is_void_v<Value> || is_copied_as_bytes<Value>),
      "karpos: keys and values of an unordered_map must be trivially copyable, or pairs of such");
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using key_type = Key;
  using value_type = std::conditional_t<std::is_void_v<Value>, no_value, Value>;
  using hasher = memberwise_function<Key, Hasher, Kokkos::pod_hash<Key>, default_hash<Key>>;
  using key_equal =
      memberwise_function<Key, EqualTo, Kokkos::pod_equal_to<Key>, default_equal<Key>>;
  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool is_packed =
      compares_bits<Key, EqualTo> &&
      (is_set || (sizeof(value_type) <= 8 && std::is_trivially_copyable_v<value_type>));
  using slots = std::conditional_t<is_packed, packed_slots<Key, value_type, execution_space>,
                                   wide_slots<Key, value_type>>;

  /// Share of the slots that are taken when a map holds the number of keys that it was made for.
  /// Chosen so that keys and values of 4+4, 8+8 and 16+24 bytes take no more memory than in
  /// Kokkos::UnorderedMap, which has a hash list, a chain and 7/6 entries for each key.
  static constexpr double load = !is_packed ? 0.8 : sizeof(typename slots::word) == 16 ? 0.6 : 0.5;
  /// Whether insertions, and lookups that run concurrently with them, read the L1 cache of a GPU
  /// first (table.hpp). H200, 2^26 pairs of 4+4 bytes: insertions 10.96 G/s without and 14.6 with,
  /// hits 9.1 and 31.5, misses 12.2 and 24.2.
  static constexpr bool reads_l1_first = device::is_device<execution_space>;
};

}  // namespace karpos::detail::unordered_map
