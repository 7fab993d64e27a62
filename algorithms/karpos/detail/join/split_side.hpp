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

// Splits one of the two tables of a partitioned join. GPUs do not count first: every partition has
// a fixed capacity (`room`), for a quarter more rows than the mean. If a partition overflows,
// because many rows are equal, and on CPUs, rows are counted first, and partitions lie one behind
// the other.

namespace karpos::detail::join {

/// Maximum bits of a partition's number for two passes, each with at most 256 partitions.
inline constexpr int max_part_bits = 16;

/// A table's rows by partition (`part`).
template <class Row>
struct split_side {
  Row* rows;
  std::uint64_t *begins, *ends;   // of partitions; counted ones end where the next begins
  std::uint32_t *taken, *filled;  // of fixed-capacity partitions
  std::uint32_t room;             // capacity of a partition in rows; 0: rows are counted

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

/// Returns the capacity of each of `parts` partitions of `rows` rows, at most `most`. Returns 0 if
/// partitions cannot have a fixed capacity.
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

/// The passes of a split: one, or two with about the same number of partitions each.
struct split_passes {
  int part_bits, coarse_bits;  // coarse_bits: of the first pass of two; 0 for one pass

  /// Returns the passes for rows of row_bytes.
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

/// Splits a source into fixed-capacity partitions, in one pass or two. `again` has the rows of the
/// coarse partitions. Asynchronous.
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

/// How many partitions two tables of `left` and `right` rows are split into, for tables of
/// partitions in scratch.
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
  /// Returns the maximum number of chunks of the left rows, if partitions may have any length.
  std::uint64_t most_chunks() const { return parts() + left / chunk_rows; }
  /// Returns the number of chunks of each fixed-capacity partition.
  std::uint64_t chunks_each(std::uint64_t room_rows) const {
    return Kokkos::max((room_rows + chunk_rows - 1) / chunk_rows, std::uint64_t(1));
  }
};

/// Computes where the right rows of each partition are, and cuts its left rows into `chunks_each`
/// chunks.
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
