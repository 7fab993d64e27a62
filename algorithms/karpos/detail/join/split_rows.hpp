// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/partition/rows.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/rows.hpp"

// What a partitioned join moves of a row: its number, and a word of well mixed bits. Their highest say to what part the row
// belongs, the next ones to what bucket of the part's table, and the rest stands in the table:
//
//   word    | part | bucket | rest |          entry   | rest | number of the row |
//
// Two rows whose part, bucket and rest are the same have the same word. Where the word is made of a key by a bijection they
// are equal then, and no row is read again; else it is a hash, and the columns are compared.

namespace karpos::detail::join {

/// As mix (hash.hpp), of 32 bits: a bijection, too.
///
/// Source: Chris Wellons, "Prospecting for hash functions", 2018, for the form; the constants are those that its search found
/// later.
KOKKOS_FUNCTION constexpr std::uint32_t mix_word(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x21f0aaadU;
  x ^= x >> 15;
  x *= 0x735a2d97U;
  x ^= x >> 15;
  return x;
}
KOKKOS_FUNCTION constexpr std::uint64_t mix_word(std::uint64_t x) { return mix(x); }

/// Rows of one column without a mask, compared as the library does: the bits of the value are all there is to a row.
template <class Rows>
struct single_value {
  static constexpr bool is_key = false;
};
template <class Hash, class Equal, view_1d Column>
struct single_value<row_view<Hash, Equal, Column>> {
  using type = typename Column::non_const_value_type;
  static constexpr bool is_key = std::is_same_v<Hash, row_hash> &&
                                 std::is_same_v<Equal, row_equal> && has_key_bits<type> &&
                                 sizeof(type) <= 8;
  using bits = std::conditional_t<sizeof(type) <= 4, std::uint32_t, std::uint64_t>;
};

/// Whether the word of rows of two tables that are compared by the functions of `Functions` is all there is to a row on both
/// sides. Else it has 32 bits of the row's hash.
template <class Left, class Right, class Functions>
inline constexpr bool has_exact_words =
    single_value<Functions>::is_key && !Left::may_have_nulls && !Right::may_have_nulls;

template <class Rows, bool IsExact>
struct split_word {
  using type = std::uint32_t;
  /// Rows that are equal to none have any word, so that they do not all come into one part.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static type of(Rows const& by, Row const& r, std::uint64_t i) {
    return static_cast<type>((by.can_equal(r) ? by.hash(r) : mix(i)) >> 32);
  }
};
template <class Rows>
struct split_word<Rows, true> {
  using type = typename single_value<Rows>::bits;
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static type of(Rows const&, Row const& r, std::uint64_t) {
    return join::mix_word(key_bits_of<type>(r.template value<0>()));
  }
};

/// A row as it is moved.
template <class Functions, bool IsExact>
using split_row = key_value<typename split_word<Functions, IsExact>::type, std::uint32_t>;

/// Source of a partition: rows, with words by the functions of the right ones.
template <class Rows, class Functions, bool IsExact>
struct rows_to_split {
  using row = split_row<Functions, IsExact>;
  using loaded = decltype(row::key);
  Rows rows;
  Functions by;

  KOKKOS_FUNCTION std::uint64_t size() const { return rows.size(); }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const {
    return split_word<Functions, IsExact>::of(by, rows[i], i);
  }
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded word, std::uint64_t i) {
    return {word, static_cast<std::uint32_t>(i)};
  }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(row const& r) { return r.key; }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(loaded word) { return word; }
};

/// How the bits of words are used, for 2^part_bits parts of at most 2^bucket_bits rows on average. So many rows have numbers
/// of part_bits + bucket_bits bits, as many as an entry need not repeat of the word.
template <class Word, int BucketBits>
struct word_bits {
  static constexpr int all = 8 * sizeof(Word);
  int part_shift;    // not 0 bits for the part: a shift by all bits is none
  int bucket_shift;  // 0 where parts and buckets take all
  int row_bits;

  explicit word_bits(int part_bits)
      : part_shift(all - part_bits),
        bucket_shift(Kokkos::max(all - part_bits - BucketBits, 0)),
        row_bits(Kokkos::min(part_bits + BucketBits, all - 1)) {}

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bucket(Word w) const {
    return static_cast<std::uint32_t>(w >> bucket_shift) & ((std::uint32_t(1) << BucketBits) - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION Word entry(Word w, std::uint32_t row) const {
    return static_cast<Word>(w << row_bits | row);
  }
  /// Whether an entry is one of this word's; then row is its number.
  KOKKOS_FORCEINLINE_FUNCTION bool is_like(Word entry, Word w, std::uint32_t& row) const {
    Word const rest = entry ^ static_cast<Word>(w << row_bits);
    row = static_cast<std::uint32_t>(rest);
    return rest < Word(1) << row_bits;
  }
};

/// The part of a word.
template <class Word>
struct part_of_split {
  int shift;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Word w) const {
    return static_cast<std::uint32_t>(w >> shift);
  }
};

/// Whether a left row is equal to a right one of the same word, by their numbers; the columns are those of `left` and `right`.
template <class Left, class Right, class Functions>
struct equal_split_rows {
  Left left;
  Right right;
  Functions by;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()([[maybe_unused]] std::uint32_t l,
                                              [[maybe_unused]] std::uint32_t r) const {
    if constexpr (has_exact_words<Left, Right, Functions>)
      return true;
    else
      return by.equal(right[r], left[l]);
  }
};

}  // namespace karpos::detail::join
