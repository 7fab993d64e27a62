// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/partition/rooms.hpp"
#include "karpos/device/space.hpp"

// One of the two tables of a partitioned join, split. GPUs put the rows of each part into a room of its own, a quarter longer
// than parts are on average, and need not count them first. Where a room is too small, because many rows are equal, and on
// CPUs, parts are counted and lie one behind the other.

namespace karpos::detail::join {

/// A table's rows by part.
template <class Row>
struct split_side {
  Row* rows;
  std::uint64_t *begins, *ends;   // of parts; those that are counted end where the next one begins
  std::uint32_t *taken, *filled;  // of rooms
  std::uint32_t room;             // rows of one; 0: parts are counted

  void take_from(arena& a, std::uint64_t n, std::uint64_t parts) {
    std::uint64_t const rooms = room == 0 ? 0 : parts;
    a.take(rows, room == 0 ? n : rooms * room);
    a.take(begins, parts + 1);
    a.take(ends, rooms);
    a.take(taken, rooms);
    a.take(filled, rooms);
  }
  partition::rooms<Row> rooms(std::uint64_t parts, std::uint32_t* no_place) const {
    return {taken, filled, nullptr, no_place, room, 0, static_cast<int>(parts)};
  }
};

/// Rows of a room for parts of so many on average, at most `most`; 0 where there can be no rooms.
template <class ExecSpace>
std::uint32_t room_of_side(std::uint64_t rows, std::uint64_t parts, std::uint64_t most) {
  if constexpr (device::is_device<ExecSpace>) {
    constexpr auto most_parts =
        static_cast<std::uint64_t>(partition::tuning<ExecSpace>::max_parts(false));
    double const mean = static_cast<double>(rows) / static_cast<double>(parts);
    if (parts > most_parts || mean > 1 << 29) return 0;
    std::uint64_t const room = partition::room_for_mean(1.25 * mean);
    return static_cast<std::uint32_t>(Kokkos::min(room, most / 32 * 32));
  } else {
    return 0;
  }
}

/// Splits a source into rooms. Asynchronous.
template <class ExecSpace, class Source, class PartOf, class Out>
void split_side_into_rooms(ExecSpace const& exec, Source const& source, PartOf const& part_of,
                           partition::rooms<typename Source::row> const& rooms, Out const& to) {
  partition::part_of_row<Source, PartOf> const part{part_of,
                                                    static_cast<std::uint32_t>(rooms.parts)};
  partition::split_into_rooms(exec, source, part, rooms, to);
}

/// Finds where the right rows of a part in its room are, and cuts the left ones into so many chunks.
template <class Left, class Right>
struct find_parts_in_rooms {
  Left left;
  Right right;
  std::uint64_t *right_begins, *right_ends;
  std::uint32_t chunks_each;
  partition::chunk* chunks;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint64_t const p = c / chunks_each, k = c % chunks_each;
    std::uint64_t const rows = left.rows_in_room(p);
    std::uint64_t const first = rows * k / chunks_each, last = rows * (k + 1) / chunks_each;
    chunks[c] = {p * left.room + first, static_cast<std::uint32_t>(last - first), chunks_each == 1,
                 static_cast<std::uint32_t>(p)};
    if (k > 0) return;
    right_begins[p] = p * right.room;
    right_ends[p] = right_begins[p] + right.rows_in_room(p);
  }
};

}  // namespace karpos::detail::join
