// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

#include "karpos/detail/partition/move.hpp"
#include "karpos/detail/partition/rows.hpp"
#include "karpos/detail/partition/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"

// A partition for GPUs that does not count first: every partition has the same fixed capacity
// (`room`) in the output. If keys are different, hashing makes partitions about equal. Rows that
// overflow a partition go to an overflow list.
//
//   out     | part 0 …     | part 1 …  | part 2 …   |    partition p begins at p * room; the
//                                                        places behind its rows are not written
//   list    | rows of any partition …  |                 rows beyond its capacity are counted
//                                                        and lost

namespace karpos::detail::partition {

/// Fixed-capacity partitions, as the destination of rows.
template <class Row, class Holder = holds_nothing>
struct rooms {
  using holder_type = Holder;
  std::uint32_t* taken;   // rows of each partition, overflowed ones included
  std::uint32_t* filled;  // of partitions with overflow: rows that are stored in place
  Row* list;
  std::uint32_t* listed;         // overflowed rows, including those that the list has no space for
  std::uint32_t room, capacity;  // of each partition and of the list; rows, below 2^30
  int parts;
  Holder holder = {};

  /// Returns these partitions with another holder of rows (reduce_by_key/hot_keys.hpp).
  template <class Other>
  rooms<Row, Other> holding(Other const& other) const {
    return {taken, filled, list, listed, room, capacity, parts, other};
  }
  /// Returns the number of rows stored in partition p, from its begin on.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t rows_in_room(std::uint64_t p) const {
    return taken[p] <= room ? taken[p] : filled[p];
  }
  /// Reserves space on the overflow list for `count` rows of partition p, which has had taken_to
  /// rows before them. Returns the index of the first, or the list's capacity if it is full.
  KOKKOS_FUNCTION std::uint32_t take_listed(int p, std::uint32_t count,
                                            std::uint32_t taken_to) const {
    if (taken_to <= room) filled[p] = taken_to;  // the first rows that do not fit
    return Kokkos::min(device::fetch_add(listed, count), capacity);
  }
};

/// Returns the capacity for partitions of `mean` rows on average, if keys are different: 6.5
/// standard deviations more. One partition in 10^10 overflows. A multiple of 32 rows, which is
/// whole sectors of any row.
inline std::uint64_t room_for_mean(double mean) {
  auto const rows = static_cast<std::uint64_t>(std::ceil(mean + 6.5 * std::sqrt(mean))) + 16;
  return (rows + 31) / 32 * 32;
}

/// Destination of rows when fixed-capacity partitions are split again: those of coarse partition r
/// go to partitions r * parts and the following. `parts` is the number of fine partitions of each
/// coarse one; the arrays have an element for every fine partition.
template <class Row>
struct rooms_of_rooms : rooms<Row> {
  rooms<Row> from;
};

/// A source of rows that lie in fixed-capacity partitions.
template <class Source>
struct rows_in_rooms : rows_of_array<Source> {
  explicit rows_in_rooms(typename Source::row const* r) : rows_of_array<Source>(r, 0) {}
};

/// Returns the number of teams that split n rows.
template <class ExecSpace>
std::uint64_t teams_of_rooms(ExecSpace const& exec, std::uint64_t rows) {
  return Kokkos::clamp(rows / tuning<ExecSpace>::min_rows_each, std::uint64_t(1),
                       std::uint64_t(device::processors(exec)));
}

/// Empties partitions and their overflow list.
template <class Rooms>
struct clear_rooms {
  Rooms to;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    to.taken[p] = 0;
    if (p == 0) *to.listed = 0;
  }
};

/// Splits the rows of a source on a GPU into empty fixed-capacity partitions of `out`, in no
/// particular order. `n` is the host's upper bound of the rows; kernels use source.size(). `out` is
/// an array, or an object that stores the pieces of a row in several arrays. Asynchronous.
/// Requires: at most tuning::max_parts(false) partitions, less than 2^32 rows; `out` has parts *
///   room elements, and overlaps nothing.
template <class Tuned, class ExecSpace, class Source, class Part, class To, class Out>
void move_into_rooms(ExecSpace const& exec, Source const& source, std::uint64_t n, Part const& part,
                     To const& to, Out const& out) {
  std::uint64_t const teams =
      teams_of_rooms(exec, n) * static_cast<std::uint64_t>(Tuned::teams_at_once);
  device::for_each_in_league(
      "karpos::partition: move into rooms", exec, static_cast<int>(teams),
      move_tiles<ExecSpace, Source, Part, false, To, Out, Tuned>{
          source, part, row_ranges{n, (n + teams - 1) / teams, static_cast<int>(teams)}, to, out});
}
template <class ExecSpace, class Source, class Part, class To, class Out>
void move_into_rooms(ExecSpace const& exec, Source const& source, std::uint64_t n, Part const& part,
                     To const& to, Out const& out) {
  partition::move_into_rooms<tuning<ExecSpace>>(exec, source, n, part, to, out);
}
/// Splits n rows of fixed-capacity partitions again, each partition into its own. `part` numbers
/// the fine partitions of all.
template <class ExecSpace, class Source, class Part>
void split_rooms(ExecSpace const& exec, rows_in_rooms<Source> const& rows, std::uint64_t n,
                 Part const& part, rooms_of_rooms<typename Source::row> const& to,
                 typename Source::row* out) {
  partition::move_into_rooms(exec, rows, n, part, to, out);
}
/// Empties partitions and their overflow list. Asynchronous.
template <class ExecSpace, class Rooms>
void make_empty(ExecSpace const& exec, Rooms const& r) {
  device::loop_over("karpos::partition: clear rooms", exec, static_cast<std::uint64_t>(r.parts),
                    clear_rooms<Rooms>{r});
}
/// Empties the partitions first, then splits as move_into_rooms does.
template <class ExecSpace, class Source, class Part, class Holder, class Out>
void split_into_rooms(ExecSpace const& exec, Source const& source, std::uint64_t n,
                      Part const& part, rooms<typename Source::row, Holder> const& to,
                      Out const& out) {
  partition::make_empty(exec, to);
  partition::move_into_rooms(exec, source, n, part, to, out);
}
/// Empties the partitions, then splits all source.size() rows, a number that the host knows.
template <class ExecSpace, class Source, class Part, class Holder, class Out>
void split_into_rooms(ExecSpace const& exec, Source const& source, Part const& part,
                      rooms<typename Source::row, Holder> const& to, Out const& out) {
  partition::split_into_rooms(exec, source, source.size(), part, to, out);
}

/// One pass of two: the function that partitions rows, the partitions, and their array.
template <class Part, class Rooms, class Out>
struct pass {
  Part part;
  Rooms to;
  Out out;
};

/// Splits the rows of a source into fixed-capacity partitions in two passes, into coarse partitions
/// first: a pass with few partitions writes long runs. Every coarse partition but the last has the
/// rows of the same number of consecutive fine partitions. `again` reads the coarse partitions'
/// rows. Asynchronous.
/// Requires: at most tuning_of_few_parts::max_parts_each coarse partitions, and as many fine ones
///   of each.
template <class ExecSpace, class Source, class Coarse, class Again, class Fine>
void split_in_two_passes(ExecSpace const& exec, Source const& source, Coarse const& coarse,
                         Again const& again, Fine const& fine) {
  using tuned = tuning_of_few_parts<ExecSpace, tuning<ExecSpace>::teams_of_two_passes>;
  partition::make_empty(exec, fine.to);
  partition::make_empty(exec, coarse.to);
  std::uint64_t const n = source.size();
  partition::move_into_rooms<tuned>(exec, source, n, coarse.part, coarse.to, coarse.out);
  rooms_of_rooms<typename Source::row> to{fine.to, coarse.to.holding(holds_nothing{})};
  to.parts = (fine.to.parts + coarse.to.parts - 1) / coarse.to.parts;
  partition::move_into_rooms<tuned>(exec, again, n, fine.part, to, fine.out);
}

}  // namespace karpos::detail::partition
