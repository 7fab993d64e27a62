// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/join/wide_rows.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/rows.hpp"

// A partitioned join moves of each row its number, and a word of well mixed bits. The highest bits
// say to which partition the row belongs, the next ones to which bucket of the partition's table,
// and the rest is stored in the table:
//
//   word    | partition | bucket | rest |          entry   | rest | number of the row |
//
// Two rows with the same partition, bucket and rest have the same word. If the word is a bijection
// of the key, they are equal then, and no row is read again. Otherwise the word is a hash, and the
// rows are compared: in the form in which they were moved, if they are materialised
// (wide_rows.hpp), or by their columns.

namespace karpos::detail::join {

/// Whether rows have one column without a mask, compared as the library does. Then the bits of the
/// value identify the row.
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

/// Whether words identify the rows of two tables, which are compared by the functions of
/// `Functions`. Otherwise words have 32 bits of the rows' hashes.
template <class Left, class Right, class Functions>
inline constexpr bool has_exact_words =
    single_value<Functions>::is_key && !Left::may_have_nulls && !Right::may_have_nulls;

template <class Rows, bool IsExact>
struct split_word {
  using type = std::uint32_t;
  /// Returns a hash. Rows that equal no row get any word, so that they do not all go to one
  /// partition.
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

/// Source of a split: rows, with words by the functions of `Functions`. Mixes: whether load() mixes
/// exact words.
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
  int partition_shift;  // partition_bits is not 0: a shift by all bits is undefined
  int bucket_shift;     // 0 if partitions and buckets take all bits
  int row_bits;

  explicit word_bits(int partition_bits)
      : partition_shift(all - partition_bits),
        bucket_shift(Kokkos::max(all - partition_bits - BucketBits, 0)),
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

/// Maps a word to its partition.
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
