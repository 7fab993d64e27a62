// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"

namespace karpos::detail {

/// The value type of a set: no value is stored.
struct no_value {};
/// The value type of a set whose words have eight bytes whatever the key is: beside hop words, and
/// in lines of cuckoo tables.
struct no_value_in_8_bytes {};
template <class T>
inline constexpr bool is_no_value =
    std::is_same_v<T, no_value> || std::is_same_v<T, no_value_in_8_bytes>;

/// The layout of a key and its value in one machine word, or in a pair of words.
///
///   key, value <= 4 bytes    64-bit word   | value : 32 | key : 32 |
///                                          claimed by one 8-byte compare-and-swap
///   either of up to 8 bytes  word16        | hi: value : 64 | lo: key : 64 |
///                                          one 16-byte compare-and-swap, or claim, then publish
///   set, key <= 4 / 8 bytes  32 / 64 bits  | key |
///                                          64 bits in hopscotch and cuckoo hashing
///
/// In open addressing a slot goes from empty to live to erased and never back, until the table is
/// cleared or rebuilt. So a slot that was read as not empty can never come to hold a given key, and
/// probes need no locks. Hopscotch hashing empties slots again, under a lock.
template <class Key, class T>
struct slot_layout {
  static constexpr bool has_value = !is_no_value<T>;
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<T>,
                "karpos: keys and values must be trivially copyable");
  static_assert(
      sizeof(Key) <= 8 && sizeof(T) <= 8,
      "karpos: keys and values have at most eight bytes: store an index of what is larger, "
      "or use 64 bits of its hash as the key");
  static_assert(std::has_unique_object_representations_v<Key> || std::is_floating_point_v<Key>,
                "karpos: padding bytes in keys would make equal keys differ");

  static constexpr bool small = sizeof(Key) <= 4 && sizeof(T) <= 4;
  static constexpr bool in_8_bytes = std::is_same_v<T, no_value_in_8_bytes>;
  using key_bits = std::conditional_t<(has_value ? small : sizeof(Key) <= 4 && !in_8_bytes),
                                      std::uint32_t, std::uint64_t>;
  using value_bits = std::conditional_t<small, std::uint32_t, std::uint64_t>;
  using word = std::conditional_t<!has_value, key_bits,
                                  std::conditional_t<small, std::uint64_t, device::word16>>;

  KOKKOS_FUNCTION static constexpr word pack(key_bits key, [[maybe_unused]] value_bits value) {
    if constexpr (!has_value)
      return key;
    else if constexpr (small)
      return static_cast<std::uint64_t>(value) << 32 | key;
    else
      return {key, value};
  }
  KOKKOS_FUNCTION static constexpr key_bits key_of(word w) {
    if constexpr (std::is_same_v<word, device::word16>)
      return w.lo;
    else
      return static_cast<key_bits>(w);
  }
  KOKKOS_FUNCTION static constexpr T value_of([[maybe_unused]] word w) {
    if constexpr (!has_value)
      return {};
    else if constexpr (small)
      return from_bits<T>(static_cast<value_bits>(w >> 32));
    else
      return from_bits<T>(w.hi);
  }
  KOKKOS_FUNCTION static constexpr value_bits bits_of([[maybe_unused]] T const& value) {
    if constexpr (has_value && sizeof(T) <= sizeof(value_bits))
      return to_bits<value_bits>(value);
    else
      return 0;
  }
};

/// Predicate: a slot holds a certain key, compared as bits.
template <class Layout>
struct holds_key_bits {
  using key_bits = typename Layout::key_bits;
  key_bits key;
  KOKKOS_FUNCTION bool operator()(typename Layout::word w) const {
    return Layout::key_of(w) == key;
  }
  KOKKOS_FUNCTION key_bits wanted_key() const { return key; }
};

/// The sentinels: keys that mark slots and therefore cannot be stored.
template <class Bits>
struct sentinels {
  Bits empty, erased, busy;

  KOKKOS_FUNCTION constexpr bool contains(Bits key) const {
    return key == empty || key == erased || key == busy;
  }
};

/// Returns the i-th default sentinel. For integers that fill Bits: the maximum minus i. For other
/// types, and for narrower integers: the largest bit pattern minus i.
template <class Key, class Bits>
constexpr Bits default_sentinel(int i) {
  if constexpr (std::is_integral_v<Key> && sizeof(Key) == sizeof(Bits))
    return to_bits<Bits>(static_cast<Key>(std::numeric_limits<Key>::max() - static_cast<Key>(i)));
  else
    return static_cast<Bits>(std::numeric_limits<Bits>::max() - static_cast<Bits>(i));
}

}  // namespace karpos::detail
