// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"

// A split for GPUs that does not count first: every partition has the same fixed capacity in the
// output. If keys are different, hashing makes partitions about equal. Rows that overflow a
// partition go to an overflow list.
//
//   out     | partition 0 …  | partition 1 …  | … |    partition p begins at p * capacity; the
//                                                      places behind its rows are not written
//   list    | rows of any partition …  |               rows beyond its capacity are counted
//                                                      and lost

namespace karpos::detail::partition {

/// Fixed-capacity partitions, as the destination of rows.
template <class Row, class Filter = no_filter>
struct fixed_partitions {
  using filter_type = Filter;
  std::uint32_t* taken;   // rows of each partition, overflowed ones included
  std::uint32_t* filled;  // of partitions with overflow: rows that are stored in place
  Row* list;
  std::uint32_t* overflowed;  // overflowed rows, including those that the list has no space for
  std::uint32_t capacity, list_capacity;  // of each partition and of the list; rows, below 2^30
  int partitions;
  Filter filter = {};

  /// Returns these partitions with another filter of rows (reduce_by_key/heavy_hitters.hpp).
  template <class Other>
  fixed_partitions<Row, Other> with_filter(Other const& other) const {
    return {taken, filled, list, overflowed, capacity, list_capacity, partitions, other};
  }
  /// Returns the number of rows stored in partition p, from its begin on.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t stored_rows(std::uint64_t p) const {
    return taken[p] <= capacity ? taken[p] : filled[p];
  }
  /// Reserves space on the overflow list for `count` rows of partition p, which has had taken_to
  /// rows before them. Returns the index of the first, or the list's capacity if it is full.
  KOKKOS_FUNCTION std::uint32_t reserve_overflow(int p, std::uint32_t count,
                                                 std::uint32_t taken_to) const {
    if (taken_to <= capacity) filled[p] = taken_to;  // the first rows that do not fit
    return Kokkos::min(device::fetch_add(overflowed, count), list_capacity);
  }
};

/// Returns the capacity for partitions of `mean` rows on average, if keys are different: 6.5
/// standard deviations more. One partition in 10^10 overflows. A multiple of 32 rows, which is
/// whole sectors of any row.
inline std::uint64_t capacity_for_mean(double mean) {
  auto const rows = static_cast<std::uint64_t>(std::ceil(mean + 6.5 * std::sqrt(mean))) + 16;
  return (rows + 31) / 32 * 32;
}

/// Destination of rows when fixed-capacity partitions are split again: those of coarse partition r
/// go to partitions r * partitions and the following. `partitions` is the number of fine partitions
/// of each coarse one; the arrays have an element for every fine partition.
template <class Row>
struct fine_partitions : fixed_partitions<Row> {
  fixed_partitions<Row> from;
};

/// A source of rows that lie in fixed-capacity partitions.
template <class Source>
struct rows_in_partitions : rows_of_array<Source> {
  explicit rows_in_partitions(typename Source::row const* r) : rows_of_array<Source>(r, 0) {}
};

/// Returns the number of teams that split n rows.
template <class ExecSpace>
std::uint64_t teams_for_rows(ExecSpace const& exec, std::uint64_t rows) {
  return Kokkos::clamp(rows / tuning<ExecSpace>::min_rows_each, std::uint64_t(1),
                       std::uint64_t(device::processors(exec)));
}

/// Empties partitions and their overflow list.
template <class FixedPartitions>
struct clear_fixed_partitions {
  FixedPartitions to;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    to.taken[p] = 0;
    if (p == 0) *to.overflowed = 0;
  }
};

/// Splits the rows of a source on a GPU into empty fixed-capacity partitions of `out`, in no
/// particular order. `n` is the host's upper bound of the rows; kernels use source.size(). `out` is
/// an array, or an object that stores the pieces of a row in several arrays. Asynchronous.
/// Requires: at most tuning::max_partitions(false) partitions, less than 2^32 rows; `out` has
///   partitions * capacity elements, and overlaps nothing.
template <class Tuned, class ExecSpace, class Source, class PartitionOf, class To, class Out>
void move_into_fixed_partitions(ExecSpace const& exec, Source const& source, std::uint64_t n,
                                PartitionOf const& partition_of, To const& to, Out const& out) {
  std::uint64_t const teams =
      teams_for_rows(exec, n) * static_cast<std::uint64_t>(Tuned::teams_at_once);
  device::for_each_in_league(
      "karpos::partition: move into fixed partitions", exec, static_cast<int>(teams),
      move_tiles<ExecSpace, Source, PartitionOf, false, To, Out, Tuned>{
          source, partition_of, row_ranges{n, (n + teams - 1) / teams, static_cast<int>(teams)}, to,
          out});
}
template <class ExecSpace, class Source, class PartitionOf, class To, class Out>
void move_into_fixed_partitions(ExecSpace const& exec, Source const& source, std::uint64_t n,
                                PartitionOf const& partition_of, To const& to, Out const& out) {
  partition::move_into_fixed_partitions<tuning<ExecSpace>>(exec, source, n, partition_of, to, out);
}
/// Splits n rows of fixed-capacity partitions again, each partition into its own. `partition_of`
/// numbers the fine partitions of all.
template <class ExecSpace, class Source, class PartitionOf>
void split_fixed_partitions(ExecSpace const& exec, rows_in_partitions<Source> const& rows,
                            std::uint64_t n, PartitionOf const& partition_of,
                            fine_partitions<typename Source::row> const& to,
                            typename Source::row* out) {
  partition::move_into_fixed_partitions(exec, rows, n, partition_of, to, out);
}
/// Empties partitions and their overflow list. Asynchronous.
template <class ExecSpace, class FixedPartitions>
void make_empty(ExecSpace const& exec, FixedPartitions const& r) {
  device::loop_over("karpos::partition: clear fixed partitions", exec,
                    static_cast<std::uint64_t>(r.partitions),
                    clear_fixed_partitions<FixedPartitions>{r});
}
/// Empties the partitions first, then splits as move_into_fixed_partitions does.
template <class ExecSpace, class Source, class PartitionOf, class Filter, class Out>
void split_into_fixed_partitions(ExecSpace const& exec, Source const& source, std::uint64_t n,
                                 PartitionOf const& partition_of,
                                 fixed_partitions<typename Source::row, Filter> const& to,
                                 Out const& out) {
  partition::make_empty(exec, to);
  partition::move_into_fixed_partitions(exec, source, n, partition_of, to, out);
}
/// Empties the partitions, then splits all source.size() rows, a number that the host knows.
template <class ExecSpace, class Source, class PartitionOf, class Filter, class Out>
void split_into_fixed_partitions(ExecSpace const& exec, Source const& source,
                                 PartitionOf const& partition_of,
                                 fixed_partitions<typename Source::row, Filter> const& to,
                                 Out const& out) {
  partition::split_into_fixed_partitions(exec, source, source.size(), partition_of, to, out);
}

/// One pass of two: the function that partitions rows, the partitions, and their array.
template <class PartitionOf, class FixedPartitions, class Out>
struct pass {
  PartitionOf partition_of;
  FixedPartitions to;
  Out out;
};

/// Splits the rows of a source into fixed-capacity partitions in two passes, into coarse partitions
/// first: a pass with few partitions writes long runs. Every coarse partition but the last has the
/// rows of the same number of consecutive fine partitions. `again` reads the coarse partitions'
/// rows. Asynchronous.
/// Requires: at most tuning_of_few_partitions::max_partitions_each coarse partitions, and as many
///   fine ones of each.
template <class ExecSpace, class Source, class Coarse, class Again, class Fine>
void split_in_two_passes(ExecSpace const& exec, Source const& source, Coarse const& coarse,
                         Again const& again, Fine const& fine) {
  using tuned = tuning_of_few_partitions<ExecSpace, tuning<ExecSpace>::teams_of_two_passes>;
  partition::make_empty(exec, fine.to);
  partition::make_empty(exec, coarse.to);
  std::uint64_t const n = source.size();
  partition::move_into_fixed_partitions<tuned>(exec, source, n, coarse.partition_of, coarse.to,
                                               coarse.out);
  fine_partitions<typename Source::row> to{fine.to, coarse.to.with_filter(no_filter{})};
  to.partitions = (fine.to.partitions + coarse.to.partitions - 1) / coarse.to.partitions;
  partition::move_into_fixed_partitions<tuned>(exec, again, n, fine.partition_of, to, fine.out);
}

}  // namespace karpos::detail::partition
