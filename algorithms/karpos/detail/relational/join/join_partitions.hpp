// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/relational/join/matches.hpp"
#include "karpos/detail/relational/join/partition_table.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"

// Joins the partitions of two tables, by a table in a team's scratch (partition_table.hpp).

namespace karpos::detail::join {

struct join_counts {
  std::uint64_t rows;            // of the join, including those that exceed the output
  std::uint32_t long_partition;  // not 0: some partition has more right rows than a table holds
  std::uint32_t overflowed[2];   // left and right rows that overflowed; if any, nothing is joined
};

/// Computes `multiply` (matches.hpp) without a branch, and knows whether one match is enough.
struct row_multiplicity {
  std::uint32_t opposite, least;
  std::uint32_t last_entry;  // bits that turn an entry that matches into the last one; or 0

  explicit row_multiplicity(multiplicity m)
      : opposite(m == multiplicity::one_if_not),
        least(m == multiplicity::matches_or_one),
        last_entry(m == multiplicity::one_if_matched || m == multiplicity::one_if_not
                       ? std::uint32_t(1) << 31
                       : 0) {}
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(std::uint32_t matches) const {
    return Kokkos::max(matches ^ opposite, least);
  }
};

/// Two tables that were split, and the chunks of the left one.
template <class Row>
struct split_tables {
  Row const *left, *right;
  std::uint64_t const *right_begins, *right_ends;  // of partitions
  partition::chunk const* chunks;
};

/// A step: a team joins a chunk of left rows with the right rows of their partition. Calls
/// emit(place, left row, right row or no_row) for the rows of the join, in any order.
template <class ExecSpace, class Row, class Equal, class Emit,
          class Table = partition_table<ExecSpace, Row>>
struct join_partitions {
  using tuned = tuning<ExecSpace>;
  using table = Table;
  using range = typename table::range;
  using numbered = numbered_row<Row>;
  using left_row = typename numbered::type;
  static constexpr int threads = tuned::threads, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = table::bytes;
  static constexpr int batch =
      table::fills_in_pieces ? tuned::payload_batch : tuned::batch(sizeof(Row));
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));

  split_tables<Row> tables;
  typename table::bits bits;
  join_counts* counts;
  Equal equal;
  row_multiplicity multiply;
  Emit emit;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if (counts->long_partition + counts->overflowed[0] + counts->overflowed[1] != 0) return;
    partition::chunk const mine = tables.chunks[t.league_rank()];
    if (mine.rows == 0) return;
    std::uint64_t const begin = tables.right_begins[mine.partition];
    auto const rows = static_cast<std::uint32_t>(tables.right_ends[mine.partition] - begin);
    if constexpr (table::fills_in_pieces) {
      for (std::uint32_t i = 0; i < rows; i += table::capacity) {
        if (i != 0) t.barrier();
        probe_chunk(t, begin + i, Kokkos::min(rows - i, std::uint32_t(table::capacity)), mine);
      }
    } else {
      probe_chunk(t, begin, rows, mine);
    }
  }

 private:
  /// Looks up a chunk of left rows among `rows` right rows from `begin` on.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void probe_chunk(Team const& t, std::uint64_t begin,
                                               std::uint32_t rows,
                                               partition::chunk const& mine) const {
    Row const* const left = tables.left + mine.begin;
    table const right_table(t.scratch(), bits, tables.right + begin);
    right_table.fill(t, rows);
    auto const each = static_cast<std::uint32_t>(batch * t.size());
    std::uint32_t const whole = mine.rows / each * each;
    for (std::uint32_t i = 0; i < whole; i += each)
      probe_batch<true>(t, right_table, left, i, mine.rows);
    if (whole < mine.rows) probe_batch<false>(t, right_table, left, whole, mine.rows);
  }
  /// Writes a left row, and the right row whose number in the table is `right`, or none.
  KOKKOS_FORCEINLINE_FUNCTION void emit_row(table const& right_table, std::uint64_t at,
                                            std::uint32_t left, std::uint32_t right) const {
    if constexpr (table::fills_in_pieces)
      emit(at, left, right_table.values(right));
    else
      emit(at, left, right == none ? no_row : std::uint64_t(right));
  }
  static constexpr std::uint32_t none = ~std::uint32_t(0);
  /// Number of the join's rows of one left row from which on all lanes of a tile (threads of a
  /// cooperative group) write them together.
  static constexpr std::uint32_t min_shared_rows = 8;

  /// A thread's batch of left rows.
  struct probed_rows {
    left_row rows[batch];
    std::uint32_t match[batch];             // a right row that matches, or none
    std::uint32_t counts[(batch + 1) / 2];  // rows of the join per left row, two in a register
    std::uint32_t total = 0;
    bool several = false;  // some left row becomes several rows

    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t count(int j) const {
      return counts[j / 2] >> 16 * (j % 2) & 0xffff;
    }
    KOKKOS_FORCEINLINE_FUNCTION void set_count(int j, std::uint32_t n) {
      counts[j / 2] = j % 2 == 0 ? n : counts[j / 2] | n << 16;
      total += n;
      several |= n > 1;
    }
  };

  /// Returns whether an entry is a match of a left row. If so, `right` is its number.
  KOKKOS_FORCEINLINE_FUNCTION bool match_entry(table const& right_table, std::uint32_t entry,
                                               left_row const& left, std::uint32_t& right) const {
    return right_table.match_word(entry, left.key, right) && equal(left, right_table.rows(), right);
  }
  /// Looks up a batch of left rows per thread. IsFull: every thread has a full batch.
  template <bool IsFull, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void probe_batch(Team const& t, table const& right_table,
                                               Row const* left, std::uint32_t first,
                                               std::uint32_t last) const {
    probed_rows probed;
    auto const tile = t.template this_tile<width>();
    std::uint32_t const size = device::size(t);
    first += device::rank(t);
    auto const is_valid = [&](int j) {
      return IsFull || first + static_cast<std::uint32_t>(j) * size < last;
    };
    Row const* const from = left + first;
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j)
      if (is_valid(j))
        probed.rows[j] = numbered::at(from, static_cast<std::uint32_t>(j) * size, tables.left);
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j)
      probed.match[j] = is_valid(j) ? right_table.bucket_of(probed.rows[j].key).bounds : 0;
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      std::uint32_t const n =
          count_in_bucket(right_table, probed.rows[j], range{probed.match[j]}, probed.match[j]);
      probed.set_count(j, is_valid(j) ? multiply(n) : 0);
      tile.sync();
    }
    if (tile.ballot([&](int) { return probed.several; }))
      write_several(tile, t.rank() % width, right_table, probed);
    else
      write_single(tile, t.rank() % width, right_table, probed);
  }
  /// Returns the number of a left row's matches, or 1 if that is enough. `match` is one, or none.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t count_in_bucket(table const& right_table,
                                                            left_row const& left, range const& r,
                                                            std::uint32_t& match) const {
    std::uint32_t matches = 0, found = none;
    std::uint32_t const end = r.end();
    for (std::uint32_t e = r.begin(); e < end; ++e) {
      std::uint32_t right;
      if (!match_entry(right_table, e, left, right)) continue;
      found = right;
      ++matches;
      e |= multiply.last_entry;
    }
    match = found;
    return matches;
  }
  /// Writes the batch if no left row of the tile becomes several rows: first the rows of all lanes'
  /// first left rows, then of their second ones, and so on.
  template <class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void write_single(Tile const& tile, int lane,
                                                table const& right_table,
                                                probed_rows const& probed) const {
    std::uint32_t total = 0;
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j)
      total += static_cast<std::uint32_t>(
          tile.ballot([&](int) { return probed.count(j) != 0; }).count());
    if (total == 0) return;
    std::uint64_t at =
        tile.once([&] { return device::fetch_add(&counts->rows, std::uint64_t(total)); });
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      auto const ones = tile.ballot([&](int) { return probed.count(j) != 0; });
      if (probed.count(j) != 0)
        emit_row(right_table, at + static_cast<std::uint32_t>(ones.rank(lane)),
                 probed.rows[j].value, probed.match[j]);
      at += static_cast<std::uint32_t>(ones.count());
    }
  }
  /// Writes the batch if left rows become any number of rows.
  template <class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void write_several(Tile const& tile, int lane,
                                                 table const& right_table,
                                                 probed_rows const& probed) const {
    std::uint32_t const total = tile.prefix_sum(tile.each([&](int) { return probed.total; })).total;
    std::uint64_t at =
        tile.once([&] { return device::fetch_add(&counts->rows, std::uint64_t(total)); });
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      std::uint32_t const n = probed.count(j);
      auto const sums = tile.prefix_sum(tile.each([&](int) { return n; }));
      std::uint64_t const mine = at + sums.before[lane];
      if (n == 1) emit_row(right_table, mine, probed.rows[j].value, probed.match[j]);
      if (n > 1 && n < min_shared_rows) write_all(mine, right_table, probed.rows[j]);
      tile.sync();
      write_shared(tile, lane, right_table, probed, j, mine);
      at += sums.total;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void write_all(std::uint64_t at, table const& right_table,
                                             left_row const& left) const {
    range const r = right_table.bucket_of(left.key);
    for (std::uint32_t e = r.begin(); e < r.end(); ++e) {
      std::uint32_t right;
      if (match_entry(right_table, e, left, right)) emit_row(right_table, at++, left.value, right);
    }
  }
  /// Writes the many rows that the j-th left row of some lanes becomes: all lanes, lane by lane.
  template <class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void write_shared(Tile const& tile, int lane,
                                                table const& right_table, probed_rows const& probed,
                                                int j, std::uint64_t at) const {
    auto many = tile.ballot([&](int) { return probed.count(j) >= min_shared_rows; });
    for (; many; many = many.without_first()) {
      int const from = many.first();
      left_row const left = tile.get(tile.each([&](int) { return probed.rows[j]; }), from);
      std::uint64_t to = tile.get(tile.each([&](int) { return at; }), from);
      range const r = right_table.bucket_of(left.key);
      for (std::uint32_t first = r.begin(); first < r.end(); first += width) {
        std::uint32_t const e = first + static_cast<std::uint32_t>(lane);
        std::uint32_t right = 0;
        bool const yes = e < r.end() && match_entry(right_table, e, left, right);
        auto const ones = tile.ballot([&](int) { return yes; });
        if (yes)
          emit_row(right_table, to + static_cast<std::uint32_t>(ones.rank(lane)), left.value,
                   right);
        to += static_cast<std::uint32_t>(ones.count());
      }
    }
  }
};

}  // namespace karpos::detail::join
