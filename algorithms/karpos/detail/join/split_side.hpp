// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/join/split_rows.hpp"
#include "karpos/detail/join/tuning.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/partition/rooms.hpp"
#include "karpos/device/space.hpp"

// One of the two tables of a partitioned join, split. GPUs put the rows of each part into a room of its own, a quarter longer
// than parts are on average, and need not count them first. Where a room is too small, because many rows are equal, and on
// CPUs, parts are counted and lie one behind the other.

namespace karpos::detail::join {

/// Of two passes: each has 256 parts at most.
inline constexpr int max_part_bits = 16;

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
    double const mean = static_cast<double>(rows) / static_cast<double>(parts);
    if (parts > std::uint64_t(1) << max_part_bits || mean > 1 << 29) return 0;
    std::uint64_t const room = partition::room_for_mean(1.25 * mean);
    return static_cast<std::uint32_t>(Kokkos::min(room, most / 32 * 32));
  } else {
    return 0;
  }
}

/// How a split goes to its parts: in one pass, or in two of about the same number of parts each.
struct split_passes {
  int part_bits, coarse_bits;  // coarse ones: 0 for one pass

  /// For rows of so many bytes.
  template <class ExecSpace>
  static split_passes of(std::size_t row_bytes, int part_bits) {
    constexpr auto most =
        static_cast<unsigned>(partition::tuning<ExecSpace>::max_parts(false));  // of a pass
    int const in_one =
        Kokkos::min(tuning<ExecSpace>::one_pass_bits(row_bytes), std::countr_zero(most));
    bool const in_two = device::is_device<ExecSpace> && part_bits > in_one;
    return {part_bits, in_two ? (part_bits + 1) / 2 : 0};
  }
  std::uint64_t coarse_parts() const {
    return coarse_bits == 0 ? 0 : std::uint64_t(1) << coarse_bits;
  }
  template <class Source>
  static auto part(int bits) {
    using word = decltype(Source::key_of(typename Source::row{}));
    return partition::part_of_row<Source, part_of_split<word>>{
        {static_cast<int>(8 * sizeof(word)) - bits}, std::uint32_t(1) << bits};
  }
};

/// Splits a source into rooms, by way of coarse ones where it takes two passes: `again` has the rows of these. Asynchronous.
template <class ExecSpace, class Source, class Rooms, class Out, class CoarseOut, class Again>
void split_into_rooms(ExecSpace const& exec, Source const& source, split_passes const& passes,
                      Rooms const& rooms, Out const& to, Rooms const& coarse,
                      CoarseOut const& coarse_to, Again const& again) {
  auto const fine = split_passes::part<Source>(passes.part_bits);
  if (passes.coarse_bits == 0) return partition::split_into_rooms(exec, source, fine, rooms, to);
  auto const rough = split_passes::part<Source>(passes.coarse_bits);
  partition::split_in_two_passes(exec, source, partition::pass{rough, coarse, coarse_to}, again,
                                 partition::pass{fine, rooms, to});
}

/// How many parts tables of so many rows are split into, for tables of parts in scratch.
template <class ExecSpace, class Table>
struct split_sizes {
  static constexpr std::uint64_t room = Table::room;
  static constexpr std::uint64_t chunk_rows = room * tuning<ExecSpace>::chunk_tables;

  std::uint64_t left, right;

  int part_bits() const {
    std::uint64_t const parts =
        Kokkos::max((right + Table::mean - 1) / Table::mean, std::uint64_t(1));
    return Kokkos::max(static_cast<int>(std::bit_width(parts - 1)), int(Table::least_part_bits));
  }
  split_passes passes() const { return split_passes::of<ExecSpace>(Table::row_bytes, part_bits()); }
  std::uint64_t parts() const { return std::uint64_t(1) << part_bits(); }
  /// Chunks that the left rows are cut into, parts of any length.
  std::uint64_t most_chunks() const { return parts() + left / chunk_rows; }
  /// Of each part in a room.
  std::uint64_t chunks_each(std::uint64_t room_rows) const {
    return Kokkos::max((room_rows + chunk_rows - 1) / chunk_rows, std::uint64_t(1));
  }
};

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
