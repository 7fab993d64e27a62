// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/streaming.hpp"
#include "karpos/key_value.hpp"

// The rows that are split: a source makes row i from the caller's data, and returns its key.

namespace karpos::detail::partition {

/// Stands for hash_partitioner of the keys' type.
struct by_hash {};

/// Whether a row can be moved at once: trivially copyable, of 4, 8 or 16 bytes.
template <class Row>
inline constexpr bool is_row = std::is_trivially_copyable_v<Row> &&
                               (sizeof(Row) == 4 || sizeof(Row) == 8 || sizeof(Row) == 16);

// A source loads the data of row i, and makes the row of it later; in between a GPU thread keeps
// the loaded data in registers. A source whose rows lie in arrays can load adjacent rows at once.

/// Rows that a source loads at once: those whose keys take 16 bytes, or one.
template <class Source>
inline constexpr int neighbours = 1;
template <class Source>
  requires requires(Source const s, typename Source::loaded* to) {
    s.template load_neighbours<1>(0, to);
  }
inline constexpr int neighbours<Source> =
    16 / static_cast<int>(sizeof(Source::key_of(typename Source::loaded{})));

/// Whether the elements of a view are adjacent in memory; false for functions of the index.
template <class View>
inline constexpr bool has_neighbours = false;
template <class View>
  requires Kokkos::is_view_v<View>
inline constexpr bool has_neighbours<View> =
    std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft> ||
    std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>;
template <class T>
inline constexpr bool has_neighbours<device::strided_elements<T, false>> = true;

/// Loads elements i, …, i + N - 1 of a view.
template <int N, class View, class T>
KOKKOS_FORCEINLINE_FUNCTION void load_elements(View const& view, std::uint64_t i, T* to) {
  if constexpr (has_neighbours<View>)
    device::load_streamed<N>(view.data() + i, to);
  else
    for (int k = 0; k < N; ++k) to[k] = view(i + static_cast<std::uint64_t>(k));
}

/// Returns a source whose load() leaves out the computation on what it loads. mix_key(source,
/// loaded) does that computation once the data has arrived, so that a thread that issues several
/// loads waits for none of them. Returns the source itself if it has no such computation.
template <class Source>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) unmixed_source(Source const& source) {
  if constexpr (requires { source.unmixed_source(); })
    return source.unmixed_source();
  else
    return (source);
}
template <class Source>
KOKKOS_FORCEINLINE_FUNCTION void mix_key(Source const& source, typename Source::loaded& loaded) {
  if constexpr (requires { source.mix_key(loaded); }) source.mix_key(loaded);
}

/// Rows that a source loads as they are.
template <class Row>
struct plain_rows {
  using row = Row;
  using loaded = Row;
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded const& r, std::uint64_t) { return r; }
};

template <class Keys>
struct keys_only : plain_rows<typename std::remove_cvref_t<Keys>::non_const_value_type> {
  using key = typename std::remove_cvref_t<Keys>::non_const_value_type;
  Keys keys;
  explicit keys_only(Keys const& k) : keys(k) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION key load(std::uint64_t i) const { return keys(i); }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, key* to) const {
    load_elements<N>(keys, i, to);
  }
  KOKKOS_FORCEINLINE_FUNCTION static key key_of(key const& r) { return r; }
};

template <class Row, class Keys, class Values>
struct keys_and_values : plain_rows<Row> {
  Keys keys;
  Values values;
  keys_and_values(Keys const& k, Values const& v) : keys(k), values(v) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION Row load(std::uint64_t i) const {
    return {.key = keys(i), .value = values(i)};
  }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, Row* to) const {
    typename std::remove_cvref_t<Keys>::non_const_value_type k[N];
    decltype(Row::value) v[N];
    load_elements<N>(keys, i, k);
    load_elements<N>(values, i, v);
    for (int j = 0; j < N; ++j) to[j] = {.key = k[j], .value = v[j]};
  }
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(Row const& r) { return r.key; }
};

/// Rows of a key and the row's number.
template <class Row, class Keys>
struct keys_and_values<Row, Keys, row_numbers> {
  using row = Row;
  using loaded = typename std::remove_cvref_t<Keys>::non_const_value_type;
  Keys keys;
  keys_and_values(Keys const& k, row_numbers) : keys(k) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const { return keys(i); }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, loaded* to) const {
    load_elements<N>(keys, i, to);
  }
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded const& key, std::uint64_t i) {
    return {.key = key, .value = static_cast<decltype(Row::value)>(i)};
  }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(row const& r) { return r.key; }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(loaded const& key) { return key; }
};

/// Returns the source of keys, with values (a view, a function or row_numbers) if any are passed.
template <class Row, class ExecSpace, class Keys, class... Values>
auto source_of_rows(Keys const& keys, Values const&... values) {
  using device::for_loop, device::held_by_loop;
  if constexpr (sizeof...(Values) == 0)
    return keys_only<held_by_loop<ExecSpace, Keys>>(for_loop<ExecSpace>(keys));
  else
    return keys_and_values<Row, held_by_loop<ExecSpace, Keys>, held_by_loop<ExecSpace, Values>...>(
        for_loop<ExecSpace>(keys), for_loop<ExecSpace>(values)...);
}

/// Rows that an earlier pass has written to an array.
template <class Source>
struct rows_of_array : plain_rows<typename Source::row> {
  using typename plain_rows<typename Source::row>::row;
  row const* rows;
  std::uint64_t count;
  rows_of_array(row const* r, std::uint64_t n) : rows(r), count(n) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return count; }
  KOKKOS_FORCEINLINE_FUNCTION row load(std::uint64_t i) const { return rows[i]; }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, row* to) const {
    device::load_streamed<N>(rows + i, to);
  }
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(row const& r) { return Source::key_of(r); }
};

/// Returns the partition of a row, or of what was loaded of it: the partition of its key.
template <class Source, class Partitioner>
struct partition_of_row {
  Partitioner partitioner;
  std::uint32_t partitions;
  template <class Row>
  KARPOS_STEP_FUNCTION std::uint32_t operator()(Row const& r) const {
    auto const p = partitioner(Source::key_of(r));
    KARPOS_EXPECTS(static_cast<std::uint64_t>(p) < partitions,
                   "a partitioner's result is below the number of partitions");
    return static_cast<std::uint32_t>(p);
  }
};

/// Some bits of the partition number, by which one of several passes splits.
template <class PartitionOf>
struct digit {
  PartitionOf partition_of;
  int shift;
  std::uint32_t mask;
  template <class Row>
  KARPOS_STEP_FUNCTION std::uint32_t operator()(Row const& r) const {
    return partition_of(r) >> shift & mask;
  }
};

/// The rows of a source in ranges of equal length, one per team.
struct row_ranges {
  std::uint64_t rows, each;
  int count;

  KOKKOS_FUNCTION std::uint64_t begin(int r) const {
    return Kokkos::min(static_cast<std::uint64_t>(r) * each, rows);
  }
  KOKKOS_FUNCTION std::uint64_t end(int r) const { return begin(r + 1); }
};

/// Stands for no filter. A filter (reduce_by_key/heavy_hitters.hpp) holds rows back while the
/// others are split, in memory at the end of a team's scratch.
struct no_filter {
  static constexpr std::size_t scratch_bytes = 0;
  struct pending {};
};

/// Positions in the output of the rows of each partition.
struct places {
  using filter_type = no_filter;
  std::uint64_t* begins;  // of partitions
  std::uint64_t*
      firsts;  // of range r, partition p at r * stride + p; null if ranges reserve space as they go
  std::uint32_t* taken;  // of partitions, if firsts is null: rows that have been placed
  std::uint64_t stride;
  int partitions;

  KOKKOS_FUNCTION std::uint64_t* of_range(int range) const {
    return firsts + static_cast<std::uint64_t>(range) * stride;
  }
};

}  // namespace karpos::detail::partition
