// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/rows.hpp"

// A partitioned join moves of each row its number, and a word of well mixed bits. The highest bits
// say to which partition the row belongs, the next ones to which bucket of the partition's table,
// and the low bits are stored in the table:
//
//   word    | partition | bucket | low bits |      entry   | low bits | number of the row |
//
// Rows with the same partition, bucket and low bits have the same word. If the word is a bijection
// of the key, they are equal then, and no row is read again. Otherwise the word is a hash, and the
// rows are compared: wide rows in the form in which they were moved, others by their columns.
//
// Wide rows have up to 12 bytes, including one byte for nulls if there may be any. They are moved
// materialised, because their columns would have to be read at random later:
//
//   bytes of the values      | 8 bytes: rest | 4 bytes |
//   word                     mix((the 4 bytes xor a hash of rest) + multiplier)
//   moved                    | word | number of the row | rest |
//
// The 4 bytes follow from the word and the rest: rows with the same word and rest are equal.

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

/// Returns the sum of the first n of some numbers.
template <std::size_t... Numbers>
KOKKOS_FUNCTION constexpr std::size_t sum_of_first(std::size_t n) {
  std::size_t sum = 0, i = 0;
  ((sum += i++ < n ? Numbers : 0), ...);
  return sum;
}

/// The bytes of a row's values one after the other, behind a byte for its nulls if it may have any.
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
    (add<First + sum_of_first<sizeof(T)...>(I)>(r.template value<static_cast<int>(I)>()), ...);
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

/// Whether words identify the rows of two tables, which are compared by the functions of
/// `Functions`. Otherwise words have 32 bits of the rows' hashes.
template <class Left, class Right, class Functions>
inline constexpr bool has_exact_words =
    single_value<Functions>::is_key && !Left::may_have_nulls && !Right::may_have_nulls;

template <class Rows, bool IsExact>
struct split_word {
  using type = std::uint32_t;
  /// Returns a hash. Rows that equal no row get any word, and so spread over the partitions.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static type of(Rows const& functions, Row const& r, std::uint64_t i,
                                             std::uint64_t multiplier) {
    return static_cast<type>((functions.can_equal(r) ? functions.hash(r) * multiplier : mix(i)) >>
                             32);
  }
};
template <class Rows>
struct split_word<Rows, true> {
  using type = typename single_value<Rows>::bits;
  /// Returns the bits of the key, not mixed yet.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static type of(Rows const&, Row const& r, std::uint64_t,
                                             std::uint64_t) {
    return key_bits_of<type>(r.template value<0>());
  }
};

/// A row in the form in which it is moved.
template <class Functions, bool IsExact>
using split_row = key_value<typename split_word<Functions, IsExact>::type, std::uint32_t>;

/// Returns the number that words are made with, which is the same for both sides of a join. Splits
/// into another number of partitions have another number: the rows of a join come partition by
/// partition, and would crowd in some partitions of the next one.
constexpr std::uint64_t word_multiplier(int partition_bits) {
  return place_multiplier(hashed::join, static_cast<std::uint64_t>(partition_bits));
}

/// Source of a split: rows, with words by `Functions`. Mixes: whether load() mixes exact words.
template <class Rows, class Functions, bool IsExact, bool Mixes = IsExact>
struct rows_to_split {
  using row = split_row<Functions, IsExact>;
  using loaded = decltype(row::key);
  Rows rows;
  Functions functions;
  std::uint64_t multiplier;

  KOKKOS_FUNCTION std::uint64_t size() const { return rows.size(); }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const {
    loaded const word = split_word<Functions, IsExact>::of(functions, rows[i], i, multiplier);
    return Mixes ? mixed(word) : word;
  }
  template <int N>
    requires IsExact
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, loaded* to) const {
    using value = typename single_value<Rows>::type;
    value values[N];
    partition::load_elements<N>(rows.first_column(), i, values);
    for (int k = 0; k < N; ++k) {
      auto const word = key_bits_of<loaded>(values[k]);
      to[k] = Mixes ? mixed(word) : word;
    }
  }
  KOKKOS_FUNCTION rows_to_split<Rows, Functions, true, false> unmixed_source() const
    requires IsExact
  {
    return {rows, functions, multiplier};
  }
  KOKKOS_FORCEINLINE_FUNCTION void mix_key(loaded& word) const
    requires IsExact
  {
    word = mixed(word);
  }
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded word, std::uint64_t i) {
    return {word, static_cast<std::uint32_t>(i)};
  }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(row const& r) { return r.key; }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(loaded word) { return word; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION loaded mixed(loaded word) const {
    return join::mix_word(static_cast<loaded>(word + static_cast<loaded>(multiplier)));
  }
};

/// Layout of a word's bits, for 2^partition_bits partitions of at most 2^BucketBits rows on
/// average. The numbers of that many rows take partition_bits + BucketBits bits. An entry has space
/// for them: it need not repeat these bits of the word, because its partition and bucket say them.
template <class Word, int BucketBits>
struct word_bits {
  static constexpr int all = 8 * sizeof(Word);
  int bucket_shift;  // 0 if partitions and buckets take all bits
  int row_bits;

  explicit word_bits(int partition_bits)
      : bucket_shift(Kokkos::max(all - partition_bits - BucketBits, 0)),
        row_bits(Kokkos::min(partition_bits + BucketBits, all - 1)) {}

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bucket(Word w) const {
    return static_cast<std::uint32_t>(w >> bucket_shift) & ((std::uint32_t(1) << BucketBits) - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Word entry(Word w, std::uint32_t row) const {
    return static_cast<Word>(w << row_bits | row);
  }
  /// Returns whether an entry has this word. If so, `row` is its number.
  KOKKOS_FORCEINLINE_FUNCTION bool match_word(Word entry, Word w, std::uint32_t& row) const {
    Word const rest = entry ^ static_cast<Word>(w << row_bits);
    row = static_cast<std::uint32_t>(rest);
    return rest < Word(1) << row_bits;
  }
};

template <class Word>
struct partition_of_word {
  int shift;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Word w) const {
    return static_cast<std::uint32_t>(w >> shift);
  }
};

/// Tells whether a left row equals a right row of the same word.
struct same_word {
  template <class Left, class Right>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(Left const&, Right const*, std::uint32_t) const {
    return true;
  }
};
template <class Left, class Right, class Functions>
struct equal_columns {
  Left left;
  Right right;
  Functions functions;
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(Row const& l, Row const*, std::uint32_t r) const {
    return functions.equal(right[r], left[l.value]);
  }
};

/// How the rows of two tables are moved and compared.
template <class Left, class Right, class Functions>
struct split_form {
  static constexpr bool has_nulls = Left::may_have_nulls || Right::may_have_nulls;
  static constexpr bool is_exact = has_exact_words<Left, Right, Functions>;
  using bytes = row_bytes<Functions>;
  static constexpr bool is_wide = !is_exact && bytes::default_functions &&
                                  bytes::values + has_nulls <= 12 &&
                                  (!has_nulls || bytes::nulls_fit);
  template <class Rows>
  using source = std::conditional_t<is_wide, wide_rows_to_split<Rows, Functions, has_nulls>,
                                    rows_to_split<Rows, Functions, is_exact>>;
  using row = std::conditional_t<is_wide, wide_row, split_row<Functions, is_exact>>;

  static auto equal(Left const& left, Right const& right, Functions const& functions) {
    if constexpr (is_exact)
      return same_word{};
    else if constexpr (is_wide)
      return equal_wide_rows<has_nulls>{functions.nulls() == null_equality::equal};
    else
      return equal_columns<Left, Right, Functions>{left, right, functions};
  }
};

}  // namespace karpos::detail::join
