// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/fixed_partitions.hpp"
#include "karpos/device/space.hpp"

// Splits one of the two tables of a partitioned join. GPUs do not count first: every partition has
// a fixed capacity, for a quarter more rows than the mean. If a partition overflows, because many
// rows are equal, and on CPUs, rows are counted first, and partitions lie one behind the other.

namespace karpos::detail::join {

/// Maximum bits of a partition's number for two passes, each with at most 256 partitions.
inline constexpr int max_partition_bits = 16;

/// A table's rows by partition.
template <class Row>
struct split_side {
  Row* rows;
  std::uint64_t *begins, *ends;   // of partitions; counted ones end where the next begins
  std::uint32_t *taken, *filled;  // of fixed-capacity partitions
  std::uint32_t capacity;         // capacity of a partition in rows; 0: rows are counted

  void allocate_from(arena& a, std::uint64_t n, std::uint64_t partitions) {
    std::uint64_t const fixed_partitions = capacity == 0 ? 0 : partitions;
    a.allocate(rows, capacity == 0 ? n : fixed_partitions * capacity);
    a.allocate(begins, partitions + 1);
    a.allocate(ends, fixed_partitions);
    a.allocate(taken, fixed_partitions);
    a.allocate(filled, fixed_partitions);
  }
  partition::fixed_partitions<Row> fixed_partitions(std::uint64_t partitions,
                                                    std::uint32_t* overflowed) const {
    return {taken, filled, nullptr, overflowed, capacity, 0, static_cast<int>(partitions)};
  }
};

/// Returns the capacity of each of `partitions` partitions of `rows` rows, at most `most`. Returns
/// 0 if partitions cannot have a fixed capacity.
template <class ExecSpace>
std::uint32_t side_capacity(std::uint64_t rows, std::uint64_t partitions, std::uint64_t most) {
  if constexpr (device::is_device<ExecSpace>) {
    double const mean = static_cast<double>(rows) / static_cast<double>(partitions);
    if (partitions > std::uint64_t(1) << max_partition_bits || mean > 1 << 29) return 0;
    std::uint64_t const capacity = partition::capacity_for_mean(1.25 * mean);
    return static_cast<std::uint32_t>(Kokkos::min(capacity, most / 32 * 32));
  } else {
    return 0;
  }
}

/// The passes of a split: one, or two with about the same number of partitions each.
struct split_passes {
  int partition_bits, coarse_bits;  // coarse_bits: of the first pass of two; 0 for one pass

  /// Returns the passes for rows of row_bytes.
  template <class ExecSpace>
  static split_passes of(std::size_t row_bytes, int partition_bits) {
    constexpr auto most =
        static_cast<unsigned>(partition::tuning<ExecSpace>::max_partitions(false));  // of a pass
    int const max_one_pass_bits =
        Kokkos::min(tuning<ExecSpace>::one_pass_bits(row_bytes), std::countr_zero(most));
    bool const needs_two_passes =
        device::is_device<ExecSpace> && partition_bits > max_one_pass_bits;
    return {partition_bits, needs_two_passes ? (partition_bits + 1) / 2 : 0};
  }
  std::uint64_t coarse_partitions() const {
    return coarse_bits == 0 ? 0 : std::uint64_t(1) << coarse_bits;
  }
  template <class Source>
  static auto partition_of(int bits) {
    using word = decltype(Source::key_of(typename Source::row{}));
    return partition::partition_of_row<Source, partition_of_word<word>>{
        {static_cast<int>(8 * sizeof(word)) - bits}, std::uint32_t(1) << bits};
  }
};

/// Splits a source into fixed-capacity partitions, in one pass or two. `coarse_rows` has the rows
/// of the coarse partitions. Asynchronous.
template <class ExecSpace, class Source, class FixedPartitions, class Out, class CoarseOut,
          class CoarseRows>
void split_into_fixed_partitions(ExecSpace const& exec, Source const& source,
                                 split_passes const& passes,
                                 FixedPartitions const& fixed_partitions, Out const& to,
                                 FixedPartitions const& coarse, CoarseOut const& coarse_to,
                                 CoarseRows const& coarse_rows) {
  auto const to_fine = split_passes::partition_of<Source>(passes.partition_bits);
  if (passes.coarse_bits == 0)
    return partition::split_into_fixed_partitions(exec, source, to_fine, fixed_partitions, to);
  auto const to_coarse = split_passes::partition_of<Source>(passes.coarse_bits);
  partition::split_in_two_passes(exec, source, partition::pass{to_coarse, coarse, coarse_to},
                                 coarse_rows, partition::pass{to_fine, fixed_partitions, to});
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
  split_passes passes() const {
    return split_passes::of<ExecSpace>(Table::row_bytes, partition_bits());
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

}  // namespace karpos::detail::join
