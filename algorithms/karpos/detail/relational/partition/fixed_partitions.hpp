// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"

// Fixed-capacity partitions of a split for GPUs (drawn in split.hpp). If keys are different,
// hashing makes partitions about equal. The places behind a partition's rows are not written. Rows
// beyond the capacity of the overflow list are counted and lost.

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
/// Returns the source of the rows that a first pass has written to `out`.
template <class Source, class Out>
auto rows_between(Out const& out) {
  if constexpr (std::is_pointer_v<Out>)
    return rows_in_partitions<Source>(out);
  else
    return out.template rows_in_partitions<Source>();
}

template <class ExecSpace>
std::uint64_t teams_for_rows(ExecSpace const& exec, std::uint64_t rows) {
  return Kokkos::clamp(rows / tuning<ExecSpace>::min_rows_each, std::uint64_t(1),
                       std::uint64_t(device::processors(exec)));
}

/// Returns the step of move_into_fixed_partitions.
template <class Tuned, class ExecSpace, class Source, class PartitionOf, class To, class Out>
auto step_into_fixed_partitions(ExecSpace const& exec, Source const& source, std::uint64_t n,
                                PartitionOf const& partition_of, To const& to, Out const& out) {
  std::uint64_t const teams =
      teams_for_rows(exec, n) * static_cast<std::uint64_t>(Tuned::teams_at_once);
  return move_tiles<ExecSpace, Source, PartitionOf, false, To, Out, Tuned>(
      source, partition_of, row_ranges{n, (n + teams - 1) / teams, static_cast<int>(teams)}, to,
      out);
}
/// Splits the rows of a source on a GPU into empty fixed-capacity partitions of `out`, in no
/// particular order. `n` is the host's upper bound of the rows; kernels use source.size(). `out` is
/// an array, or an object that stores the pieces of a row in several arrays. Asynchronous.
/// Requires: at most tuning::max_partitions(false) partitions, less than 2^32 rows; `out` has
///   partitions * capacity elements, and overlaps nothing.
template <class Tuned, class ExecSpace, class Source, class PartitionOf, class To, class Out>
void move_into_fixed_partitions(ExecSpace const& exec, Source const& source, std::uint64_t n,
                                PartitionOf const& partition_of, To const& to, Out const& out) {
  auto const step =
      partition::step_into_fixed_partitions<Tuned>(exec, source, n, partition_of, to, out);
  device::for_each_in_league("karpos::partition: move into fixed partitions", exec, step.teams(),
                             step);
}

}  // namespace karpos::detail::partition
