// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/device/space.hpp"

// The split of the two tables of a partitioned join (drawn in split_join.hpp).

namespace karpos::detail::join {

/// Maps a word to its partition among 2^bits ones.
template <class Source>
auto partition_of_source(int bits) {
  using word = decltype(Source::key_of(typename Source::row{}));
  return partition::partition_of_row<Source, partition_of_word<word>>{
      {static_cast<int>(8 * sizeof(word)) - bits}, std::uint32_t(1) << bits};
}
/// Splits a source into the partitions of fixed capacity of a side. Asynchronous.
template <class ExecSpace, class Source, class Side>
void split_into_capacities(ExecSpace const& exec, Source const& source, Side const& side) {
  auto const bits = [](int partitions) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(partitions) - 1));
  };
  auto const& split = side.split;
  partition::split_rows(
      exec, source,
      partition::partition_functions{
          join::partition_of_source<Source>(bits(split.fine.partitions)),
          join::partition_of_source<Source>(bits(Kokkos::max(split.coarse.partitions, 1)))},
      split, side.out(), side.coarse_out());
}

/// How many partitions two tables of `left` and `right` rows are split into, for tables of
/// partitions in scratch.
template <class ExecSpace, class Table>
struct split_sizes {
  static constexpr std::uint64_t capacity = Table::capacity;
  static constexpr std::uint64_t chunk_rows = capacity * tuning<ExecSpace>::chunk_tables;

  std::uint64_t left, right;

  int partition_bits() const {
    std::uint64_t const partitions =
        Kokkos::max((right + Table::mean - 1) / Table::mean, std::uint64_t(1));
    return Kokkos::max(static_cast<int>(std::bit_width(partitions - 1)),
                       int(Table::min_partition_bits));
  }
  partition::split_passes passes() const {
    int const most = Kokkos::min(tuning<ExecSpace>::one_pass_bits(Table::row_bytes),
                                 std::countr_zero(static_cast<unsigned>(
                                     partition::tuning<ExecSpace>::max_partitions(false))));
    return partition_bits() > most ? partition::split_passes::two_by_bits(partitions())
                                   : partition::split_passes{partitions()};
  }
  /// Returns the split of a side of `rows` rows, whose partitions have at most max_rows.
  template <class Row>
  partition::capacity_split<ExecSpace, Row> split(std::uint64_t rows, std::uint64_t max_rows,
                                                  std::uint64_t max_places) const {
    double const mean = static_cast<double>(rows) / static_cast<double>(partitions());
    return {passes(), partition::capacity_policy(mean, 1.25, max_rows / 32 * 32, max_places)};
  }
  std::uint64_t partitions() const { return std::uint64_t(1) << partition_bits(); }
  /// Returns the maximum number of chunks of the left rows, if partitions may have any length.
  std::uint64_t max_chunks() const { return partitions() + left / chunk_rows; }
  /// Returns the number of chunks of each fixed-capacity partition.
  std::uint64_t chunks_per_partition(std::uint64_t partition_rows) const {
    return Kokkos::max((partition_rows + chunk_rows - 1) / chunk_rows, std::uint64_t(1));
  }
};

/// Computes where the right rows of each partition are, and cuts its left rows into
/// `chunks_per_partition` chunks.
template <class Left, class Right>
struct write_chunks_and_bounds {
  Left left;
  Right right;
  std::uint64_t *right_begins, *right_ends;
  std::uint32_t chunks_per_partition;
  partition::chunk* chunks;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint64_t const p = c / chunks_per_partition, k = c % chunks_per_partition;
    std::uint64_t const rows = left.stored_rows(p);
    std::uint64_t const first = rows * k / chunks_per_partition,
                        last = rows * (k + 1) / chunks_per_partition;
    chunks[c] = {p * left.capacity + first, static_cast<std::uint32_t>(last - first),
                 chunks_per_partition == 1, static_cast<std::uint32_t>(p)};
    if (k > 0) return;
    right_begins[p] = p * right.capacity;
    right_ends[p] = right_begins[p] + right.stored_rows(p);
  }
};

/// Enqueues write_chunks_and_bounds. Returns the number of chunks.
template <class ExecSpace, class Sizes, class Left, class Right>
std::uint64_t write_chunks(ExecSpace const& exec, Sizes const& sizes, Left const& left,
                           Right const& right, std::uint64_t* right_begins,
                           std::uint64_t* right_ends, partition::chunk* chunks) {
  std::uint64_t const each = sizes.chunks_per_partition(left.capacity);
  device::loop_over("karpos::partitioned_join: write chunks and bounds", exec,
                    sizes.partitions() * each,
                    write_chunks_and_bounds<Left, Right>{left, right, right_begins, right_ends,
                                                         static_cast<std::uint32_t>(each), chunks});
  return sizes.partitions() * each;
}

}  // namespace karpos::detail::join
