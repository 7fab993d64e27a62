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

// A split of GPUs' that does not count first: every part has a room of the output, as long as every other. Hashing makes
// parts about equal where keys are different; rows for which a room has become too small go to a list.
//
//   out     | part 0 …     | part 1 …  | part 2 …   |       part p begins at p * room; behind its rows nothing is written
//   list    | rows of any part …  |                         what is beyond its capacity is counted, and lost

namespace karpos::detail::partition {

/// Where the rows of a part go when nobody has counted them.
template <class Row, class Holder = holds_nothing>
struct rooms {
  using holder_type = Holder;
  std::uint32_t* taken;   // of parts: their rows, wherever they are
  std::uint32_t* filled;  // of parts some of whose rows are not in their room: those that are
  Row* list;
  std::uint32_t*
      listed;  // rows that are not in their room, also those that the list is too small for
  std::uint32_t room, capacity;  // rows of a room and of the list, below 2^30
  int parts;
  Holder holder = {};

  /// The same with another holder.
  template <class Other>
  rooms<Row, Other> holding(Other const& other) const {
    return {taken, filled, list, listed, room, capacity, parts, other};
  }
  /// Rows in the room of a part, from its begin on.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t rows_in_room(std::uint64_t p) const {
    return taken[p] <= room ? taken[p] : filled[p];
  }
  /// Takes places on the list for rows of a part whose room was taken up to there. Returns: the first of them, or the
  /// capacity where the list is full.
  KOKKOS_FUNCTION std::uint32_t take_listed(int p, std::uint32_t count,
                                            std::uint32_t taken_to) const {
    if (taken_to <= room) filled[p] = taken_to;  // the first rows that do not fit
    return Kokkos::min(device::fetch_add(listed, count), capacity);
  }
};

/// The room that a part of so many rows on average needs where keys are different: six and a half standard deviations
/// more, one part in 10^10 needs more than that. A multiple of 32 rows, whole sectors of any row.
inline std::uint64_t room_for_mean(double mean) {
  auto const rows = static_cast<std::uint64_t>(std::ceil(mean + 6.5 * std::sqrt(mean))) + 16;
  return (rows + 31) / 32 * 32;
}

/// Where rows go that lie in rooms and are split again: those of room r into the parts from r * parts on, whose arrays are
/// as long as all rooms have parts together.
template <class Row>
struct rooms_of_rooms : rooms<Row> {
  rooms<Row> from;
};

/// Rows that lie in rooms.
template <class Source>
struct rows_in_rooms : rows_of_array<Source> {
  explicit rows_in_rooms(typename Source::row const* r) : rows_of_array<Source>(r, 0) {}
};

/// Teams that split so many rows.
template <class ExecSpace>
std::uint64_t teams_of_rooms(ExecSpace const& exec, std::uint64_t rows) {
  return Kokkos::clamp(rows / tuning<ExecSpace>::min_rows_each, std::uint64_t(1),
                       std::uint64_t(device::processors(exec)));
}

/// Makes rooms empty.
template <class Rooms>
struct clear_rooms {
  Rooms to;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    to.taken[p] = 0;
    if (p == 0) *to.listed = 0;
  }
};

/// Splits the rows of a source, on a GPU, into rooms of `out` that are empty, in no particular order. The host knows that there
/// are at most so many rows; the device asks the source. `out`: an array, or what has places for parts of rows in several.
/// Asynchronous.
/// Requires: at most tuning::max_parts(false) parts, less than 2^32 rows; `out` has parts * room elements, and overlaps
/// nothing.
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
/// The same for n rows that lie in rooms, into those of each. `part` counts the parts of all.
template <class ExecSpace, class Source, class Part>
void split_rooms(ExecSpace const& exec, rows_in_rooms<Source> const& rows, std::uint64_t n,
                 Part const& part, rooms_of_rooms<typename Source::row> const& to,
                 typename Source::row* out) {
  partition::move_into_rooms(exec, rows, n, part, to, out);
}
/// Makes rooms, and their list, empty. Asynchronous.
template <class ExecSpace, class Rooms>
void make_empty(ExecSpace const& exec, Rooms const& r) {
  device::loop_over("karpos::partition: clear rooms", exec, static_cast<std::uint64_t>(r.parts),
                    clear_rooms<Rooms>{r});
}
/// The same with rooms that are made empty first.
template <class ExecSpace, class Source, class Part, class Holder, class Out>
void split_into_rooms(ExecSpace const& exec, Source const& source, std::uint64_t n,
                      Part const& part, rooms<typename Source::row, Holder> const& to,
                      Out const& out) {
  partition::make_empty(exec, to);
  partition::move_into_rooms(exec, source, n, part, to, out);
}
/// The same where the host knows, too.
template <class ExecSpace, class Source, class Part, class Holder, class Out>
void split_into_rooms(ExecSpace const& exec, Source const& source, Part const& part,
                      rooms<typename Source::row, Holder> const& to, Out const& out) {
  partition::split_into_rooms(exec, source, source.size(), part, to, out);
}

/// One of two passes: by which part rows go, into which rooms, and the array of these.
template <class Part, class Rooms, class Out>
struct pass {
  Part part;
  Rooms to;
  Out out;
};

/// Splits the rows of a source into rooms by way of coarse ones: few parts of a pass have long runs. The first coarse room has the
/// rows of the first parts, as many as all coarse rooms but the last have. `again` has the rows of the coarse rooms. Asynchronous.
/// Requires: at most tuning_of_few_parts::max_parts_each coarse parts, and parts of each.
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
