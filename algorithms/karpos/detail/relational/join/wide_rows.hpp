// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/hash.hpp"
#include "karpos/rows.hpp"

// Rows of up to 12 bytes, including one byte for nulls if there may be any. A partitioned join
// moves them materialised, because their columns would have to be read at random later.
//
//   bytes of the values      | 8 bytes: rest | 4 bytes |
//   word                     mix((the 4 bytes xor a hash of rest) + multiplier)
//   moved                    | word | number of the row | rest |
//
// The 4 bytes follow from the word and the rest, so that rows with the same word and rest are
// equal.

namespace karpos::detail::join {

/// Spreads every bit of x over all of its bits, as mix (hash.hpp) does for 64 bits; a bijection.
///
/// Source: Chris Wellons, "Prospecting for hash functions", 2018, for the form; its search found
///   the constants later.
KOKKOS_FUNCTION constexpr std::uint32_t mix_word(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x21f0aaadU;
  x ^= x >> 15;
  x *= 0x735a2d97U;
  x ^= x >> 15;
  return x;
}
KOKKOS_FUNCTION constexpr std::uint64_t mix_word(std::uint64_t x) { return mix(x); }

struct alignas(16) wide_row {
  std::uint32_t key, value;
  std::uint64_t rest;
};
template <class Row>
inline constexpr bool is_wide = std::is_same_v<Row, wide_row>;

/// The data that a thread loads of a wide row.
struct wide_key {
  std::uint32_t word, rest_low, rest_high;
};

/// Whether rows are compared value by value, as the library does, and the bytes of their values. 64
/// bytes count for a value without key bits.
template <class Rows>
struct row_bytes;
template <class Hash, class Equal, class... Columns>
struct row_bytes<row_view<Hash, Equal, Columns...>> {
  template <class Column>
  static constexpr std::size_t of() {
    using value = typename column_traits<Column>::value_type;
    return has_key_bits<value> && sizeof(value) <= 8 ? sizeof(value) : 64;
  }
  static constexpr bool default_functions =
      std::is_same_v<Hash, row_hash> && std::is_same_v<Equal, row_equal>;
  static constexpr std::size_t values = (of<Columns>() + ...);
  /// Whether a byte has a bit for the null of each column.
  static constexpr bool nulls_fit = sizeof...(Columns) <= 8;
};

/// The bytes of a row's values one after the other. A byte for its nulls is in front, if it may
/// have any.
class packed_values {
 public:
  template <bool HasNulls, class... T>
  KOKKOS_FORCEINLINE_FUNCTION static packed_values of(row<T...> const& r,
                                                      std::bool_constant<HasNulls>) {
    packed_values p;
    if constexpr (HasNulls) p.m_low = r.nulls();
    p.add_all<HasNulls ? 1 : 0>(r, std::index_sequence_for<T...>{});
    return p;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t low() const { return m_low; }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t high() const { return m_high; }

 private:
  template <std::size_t First, class... T, std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION void add_all(row<T...> const& r, std::index_sequence<I...>) {
    (add<First + bytes_before<I, T...>()>(r.template value<static_cast<int>(I)>()), ...);
  }
  template <std::size_t N, class... T>
  KOKKOS_FUNCTION static constexpr std::size_t bytes_before() {
    std::size_t before = 0, sum = 0, i = 0;
    ((before = i++ == N ? sum : before, sum += sizeof(T)), ...);
    return before;
  }
  template <std::size_t At, class T>
  KOKKOS_FORCEINLINE_FUNCTION void add(T const& value) {
    auto const bits = key_bits_of<std::uint64_t>(value);
    if constexpr (At < 8) m_low |= bits << 8 * At;
    if constexpr (At < 8 && At + sizeof(T) > 8)
      m_high |= static_cast<std::uint32_t>(bits >> 8 * (8 - At));
    if constexpr (At >= 8) m_high |= static_cast<std::uint32_t>(bits << 8 * (At - 8));
  }

  std::uint64_t m_low = 0;
  std::uint32_t m_high = 0;
};

/// Source of a split: materialised rows. HasNulls: rows of one of the two sides may have nulls.
/// Mixes: whether load() computes the words.
template <class Rows, class Functions, bool HasNulls, bool Mixes = true>
struct wide_rows_to_split {
  using row = wide_row;
  using loaded = wide_key;
  Rows rows;
  Functions functions;
  std::uint64_t multiplier;

  KOKKOS_FUNCTION std::uint64_t size() const { return rows.size(); }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const {
    auto const r = rows[i];
    auto const p = packed_values::of(r, std::bool_constant<HasNulls>{});
    // Rows that equal no row get any word, so that they do not all go to one partition.
    std::uint32_t const word = HasNulls && !functions.can_equal(r)
                                   ? static_cast<std::uint32_t>(mix(i) >> 32)
                               : Mixes ? word_of(p.high(), p.low())
                                       : p.high();
    return {word, static_cast<std::uint32_t>(p.low()), static_cast<std::uint32_t>(p.low() >> 32)};
  }
  KOKKOS_FUNCTION wide_rows_to_split<Rows, Functions, false, false> unmixed_source() const
    requires(!HasNulls)
  {
    return {rows, functions, multiplier};
  }
  KOKKOS_FORCEINLINE_FUNCTION void mix_key(loaded& k) const
    requires(!HasNulls)
  {
    k.word = word_of(k.word, std::uint64_t(k.rest_high) << 32 | k.rest_low);
  }
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded const& k, std::uint64_t i) {
    return {k.word, static_cast<std::uint32_t>(i), std::uint64_t(k.rest_high) << 32 | k.rest_low};
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t key_of(row const& r) { return r.key; }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t key_of(loaded const& k) { return k.word; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t word_of(std::uint32_t high, std::uint64_t low) const {
    return join::mix_word((high ^ static_cast<std::uint32_t>(mix(low) >> 32)) +
                          static_cast<std::uint32_t>(multiplier));
  }
};

/// Tells whether a left row equals the right row at index `right` of the partition, if they have
/// the same word. Replaces `right` by the row's number in its table.
template <bool HasNulls>
struct equal_wide_rows {
  bool nulls_are_equal;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(wide_row const& left, wide_row const* partition_rows,
                                              std::uint32_t& right) const {
    wide_row const r = partition_rows[right];
    right = r.value;
    if (HasNulls && !nulls_are_equal && (left.rest & 0xff) != 0) return false;
    return r.rest == left.rest;
  }
};

}  // namespace karpos::detail::join
