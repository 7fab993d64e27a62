// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "karpos/detail/relational/join/partition_table.hpp"
#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/device/streaming.hpp"
#include "karpos/hash.hpp"
#include "karpos/rows.hpp"

// Payload columns of a table, whose values a partitioned join moves with the keys of their rows:
//
//   columns      | a | b | c of 8 bytes |      of row i
//   payload      | a | b | c   c |             words of 32 bits, side by side
//   split        keys | k | k | k | …          of the rows of a partition, in two arrays
//                values | abcc | abcc | abcc | …
//
// The join of a partition reads all of its keys, but values only of rows that match.

namespace karpos::detail::join {

/// Words of a row's values, aligned for one load or store if possible.
template <int Words>
struct alignas(std::has_single_bit(unsigned(Words)) ? 4 * Words : 4) payload_values {
  std::uint32_t word[Words];
};

template <class T>
inline constexpr std::size_t words_of_value = sizeof(T) <= 4 ? 1 : 2;
template <class T>
inline constexpr bool is_payload_type =
    std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// Payload columns, which pack the values of a row into words: one word, 0, if there are none.
template <class... Columns>
class payload_columns {
  template <std::size_t I>
  using value = typename std::tuple_element_t<I, std::tuple<Columns...>>::non_const_value_type;

 public:
  static constexpr int words =
      Kokkos::max(1, int((words_of_value<typename Columns::non_const_value_type> + ... + 0)));
  static constexpr bool fit =
      (is_payload_type<typename Columns::non_const_value_type> && ...) && words <= 4;
  using values = payload_values<words>;

  explicit payload_columns(pack<Columns...> const& columns) : m_columns(columns) {}

  /// Loads the values of rows i, …, i + N - 1.
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load(std::uint64_t i, values* to) const {
    load_all<N>(i, to, std::index_sequence_for<Columns...>{});
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::uint64_t i, values const& from) const {
    store_all(i, from, std::index_sequence_for<Columns...>{});
  }

 private:
  /// The first word of column I.
  template <std::size_t I>
  static constexpr std::size_t first =
      sum_of_first<words_of_value<typename Columns::non_const_value_type>...>(I);

  template <int N, std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION void load_all(std::uint64_t i, values* to,
                                            std::index_sequence<I...>) const {
    if constexpr (sizeof...(I) == 0)
      for (int k = 0; k < N; ++k) to[k].word[0] = 0;
    (load_column<N, I>(i, to), ...);
  }
  template <int N, std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION void load_column(std::uint64_t i, values* to) const {
    value<I> v[N];
    partition::load_elements<N>(get<I>(m_columns), i, v);
    KARPOS_UNROLL
    for (int k = 0; k < N; ++k) {
      if constexpr (words_of_value<value<I>> == 1) {
        to[k].word[first<I>] = to_bits<std::uint32_t>(v[k]);
      } else {
        auto const bits = to_bits<std::uint64_t>(v[k]);
        to[k].word[first<I>] = static_cast<std::uint32_t>(bits);
        to[k].word[first<I> + 1] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
  }
  template <std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION void store_all(std::uint64_t i, values const& from,
                                             std::index_sequence<I...>) const {
    (store_column<I>(i, from), ...);
  }
  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION void store_column(std::uint64_t i, values const& from) const {
    std::uint32_t const low = from.word[first<I>];
    if constexpr (words_of_value<value<I>> == 1)
      get<I>(m_columns)(i) = from_bits<value<I>>(low);
    else
      get<I>(m_columns)(i) =
          from_bits<value<I>>(std::uint64_t(from.word[first<I> + 1]) << 32 | low);
  }

  pack<Columns...> m_columns;
};

/// Source of a split: rows of one key column with exact words (split_rows.hpp), and the values of
/// payload columns. The word is loaded first, the values later (`payload`).
template <class Rows, class Columns>
struct payload_rows_to_split {
  using words = rows_to_split<Rows, Rows, true>;
  using loaded = typename words::loaded;
  using payload = typename Columns::values;
  /// A row in scratch, where rows need not be aligned to more than a word.
  struct row {
    loaded key;
    std::uint32_t word[Columns::words];
  };
  words keys;
  Columns columns;

  KOKKOS_FUNCTION std::uint64_t size() const { return keys.size(); }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const { return keys.load(i); }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, loaded* to) const {
    keys.template load_neighbours<N>(i, to);
  }
  KOKKOS_FUNCTION auto unmixed_source() const { return keys.unmixed_source(); }
  KOKKOS_FORCEINLINE_FUNCTION void mix_key(loaded& word) const { keys.mix_key(word); }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_payload(std::uint64_t i, payload* to) const {
    columns.template load<N>(i, to);
  }
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded key, payload const& values) {
    row r{key, {}};
    for (int w = 0; w < Columns::words; ++w) r.word[w] = values.word[w];
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(row const& r) { return r.key; }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(loaded key) { return key; }
};

/// Source of a split: the rows that an earlier pass has written to fixed-capacity partitions.
template <class Source>
struct payload_rows_in_partitions {
  using loaded = typename Source::loaded;
  using payload = typename Source::payload;
  using row = typename Source::row;
  loaded const* keys;
  payload const* values;

  KOKKOS_FUNCTION std::uint64_t size() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const { return keys[i]; }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, loaded* to) const {
    device::load_streamed<N>(keys + i, to);
  }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_payload(std::uint64_t i, payload* to) const {
    device::load_streamed<N>(values + i, to);
  }
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded key, payload const& r) {
    return Source::make(key, r);
  }
  template <class KeyOrRow>
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(KeyOrRow const& r) {
    return Source::key_of(r);
  }
};

/// Output of a split: an array of keys and an array of values.
template <class Word, class Values>
struct keys_and_payload {
  key_only_row<Word>* keys = nullptr;
  Values* values = nullptr;

  struct reference {
    Word* key;
    Values* values;
    template <class Row>
    KOKKOS_FORCEINLINE_FUNCTION void operator=(Row const& r) const {
      *key = r.key;
      Values v;
      for (int w = 0; w < int(sizeof(Values) / 4); ++w) v.word[w] = r.word[w];
      *values = v;
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION reference operator[](std::uint64_t i) const {
    return {&keys[i].key, values + i};
  }
  /// Returns the source of these rows for the second of two passes.
  template <class Source>
  payload_rows_in_partitions<Source> rows_in_partitions() const {
    return {&keys->key, values};
  }
};

/// Writes the values of a left and a right row to a row of the output, if it has space for that
/// row. `l` is the left row's index in the split, where its values lie.
template <class Left, class Right>
struct write_payload {
  typename Left::values const* left_values;
  Left left;
  Right right;
  std::uint64_t capacity;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::uint64_t at, std::uint64_t l,
                                              typename Right::values const& r) const {
    if (at >= capacity) return;
    left.store(at, left_values[l]);
    right.store(at, r);
  }
};

}  // namespace karpos::detail::join
