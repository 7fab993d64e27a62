// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/join/matches.hpp"
#include "karpos/detail/join/split_rows.hpp"
#include "karpos/detail/join/tuning.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/hash.hpp"

// Joins the parts of two tables: a team holds a table of a part's right rows in scratch, and looks up a chunk of its left rows.
//
//   heads     | . | 3 | 2 |     by bits of the hash: the last right row of each chain, by its number in the part, from 1 on,
//   next      | 0 | 1 | 0 |     and 16 other bits of its hash, its tag; the same of the row before it in its chain
//
// What a tag does not tell apart is read and compared: from the second-level cache, through which it has just come.

namespace karpos::detail::join {

/// What the teams of join_parts count.
struct part_counts {
  std::uint64_t rows;       // of the join, also those that have no room
  std::uint32_t long_part;  // not 0: some part has more right rows than a table holds
};

/// The right rows of a part, by their hash.
template <class ExecSpace>
class part_table {
  static constexpr std::uint32_t words = tuning<ExecSpace>::table_bytes / 4;
  static constexpr std::uint32_t heads = std::bit_floor(words / 3);

 public:
  static constexpr std::size_t bytes = std::size_t(words) * 4;
  /// Rows that a table holds: their numbers have 16 bits, and 0 stands for none.
  static constexpr std::uint32_t room = words - heads;
  static_assert(room < 1 << 16);

  KOKKOS_FUNCTION explicit part_table(std::byte* memory)
      : m_heads(reinterpret_cast<std::uint32_t*>(memory)),
        m_next(m_heads + heads) {}

  /// Rows of an array become those of the table. Ends with a barrier.
  template <class Team, class Row>
  KOKKOS_FORCEINLINE_FUNCTION void fill(Team const& t, Row const* rows, std::uint32_t n) const {
    auto const size = static_cast<std::uint32_t>(t.size());
    auto const rank = static_cast<std::uint32_t>(t.rank());
    for (std::uint32_t i = rank; i < heads; i += size) m_heads[i] = 0;
    t.barrier();
    KARPOS_UNROLL_BY(8)
    for (std::uint32_t i = rank; i < n; i += size) {
      std::uint64_t const hash = mix(rows[i].key);
      m_next[i] =
          device::exchange(device::scratch(m_heads + head_of(hash)), tag_of(hash) | (i + 1));
    }
    t.barrier();
  }
  /// Calls f(number of a row) for those that may have this key, while it returns true.
  template <class Key, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_like(Key key, F const& f) const {
    std::uint64_t const hash = mix(key);
    std::uint32_t const tag = tag_of(hash);
    for (std::uint32_t at = m_heads[head_of(hash)]; at != 0;) {
      std::uint32_t const i = (at & low) - 1;
      if ((at & ~low) == tag && !f(i)) return;
      at = m_next[i];
    }
  }

 private:
  static constexpr std::uint32_t low = 0xffff;
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t head_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash) & (heads - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash) & ~low;
  }

  std::uint32_t *m_heads, *m_next;
};

/// Where two tables lie that were split, and the chunks that their left rows are cut into.
template <class Row>
struct split_tables {
  Row const *left, *right;
  std::uint64_t const* right_begins;  // of parts
  partition::chunk const* chunks;
};

/// A step: a team joins a chunk of left rows with the right rows of their part. emit(place, left row, right row or no_row) is
/// called for the rows of the join, in any order.
template <class ExecSpace, class Row, class Equal, class Emit>
struct join_parts {
  using tuned = tuning<ExecSpace>;
  static constexpr int threads = tuned::threads, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = part_table<ExecSpace>::bytes;
  static constexpr int batch = tuned::batch;
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));

  split_tables<Row> tables;
  part_counts* counts;
  Equal equal;
  multiplicity kind;
  Emit emit;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if (counts->long_part != 0) return;
    partition::chunk const mine = tables.chunks[t.league_rank()];
    if (mine.rows == 0) return;
    std::uint64_t const begin = tables.right_begins[mine.part];
    Row const* const right = tables.right + begin;
    part_table<ExecSpace> const table(t.scratch());
    table.fill(t, right, static_cast<std::uint32_t>(tables.right_begins[mine.part + 1] - begin));
    auto const each = static_cast<std::uint32_t>(batch * t.size());
    for (std::uint32_t i = 0; i < mine.rows; i += each)
      look_up(t, table, tables.left + mine.begin, i, mine.rows, right);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t(0);

  /// Calls f(right row) for each match of a left row, while it returns true.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_match(part_table<ExecSpace> const& table,
                                                  Row const& left, Row const* right,
                                                  F const& f) const {
    table.for_each_like(left.key, [&](std::uint32_t i) {
      Row const r = right[i];
      return !equal(left, r) || f(r.value);
    });
  }
  /// Looks up a batch of left rows for each thread.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void look_up(Team const& t, part_table<ExecSpace> const& table,
                                           Row const* left, std::uint32_t first, std::uint32_t last,
                                           Row const* right) const {
    Row rows[batch];
    std::uint32_t match[batch], n[batch];
    auto const tile = t.template this_tile<width>();
    auto const size = static_cast<std::uint32_t>(t.size());
    first += static_cast<std::uint32_t>(t.rank());
    auto const valid = [&](int j) { return first + static_cast<std::uint32_t>(j) * size < last; };
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j)
      if (valid(j)) rows[j] = left[first + static_cast<std::uint32_t>(j) * size];
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      n[j] = 0;
      if (valid(j)) n[j] = count_matches(table, rows[j], right, match[j]);
      tile.sync();
    }
    write(t, table, rows, match, n, right);
  }
  /// Returns: how many rows of the join a left row becomes; match: the right row of one of them, or none.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t count_matches(part_table<ExecSpace> const& table,
                                                          Row const& left, Row const* right,
                                                          std::uint32_t& match) const {
    bool const one_will_do =
        kind == multiplicity::one_if_matched || kind == multiplicity::one_if_not;
    std::uint32_t matches = 0;
    match = none;
    for_each_match(table, left, right, [&](std::uint32_t r) {
      match = r;
      ++matches;
      return !one_will_do;
    });
    return static_cast<std::uint32_t>(join::multiply(kind, matches));
  }
  /// Places in the output for all rows of a tile: before[j] for those of this thread. Returns: how many they are.
  template <class Tile>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t take_places(Tile const& tile, int lane,
                                                               std::uint32_t const (&n)[batch],
                                                               std::uint32_t (&before)[batch]) {
    bool several = false;
    for (int j = 0; j < batch; ++j) several |= n[j] > 1;
    std::uint32_t total = 0;
    if (tile.ballot([&](int) { return several; })) {
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        auto const sums = tile.prefix_sum(tile.each([&](int) { return n[j]; }));
        before[j] = total + sums.before[lane];
        total += sums.total;
      }
    } else {
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        auto const ones = tile.ballot([&](int) { return n[j] != 0; });
        before[j] = total + static_cast<std::uint32_t>(ones.rank(lane));
        total += static_cast<std::uint32_t>(ones.count());
      }
    }
    return total;
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write(Team const& t, part_table<ExecSpace> const& table,
                                         Row const (&rows)[batch],
                                         std::uint32_t const (&match)[batch],
                                         std::uint32_t const (&n)[batch], Row const* right) const {
    auto const tile = t.template this_tile<width>();
    std::uint32_t before[batch];
    std::uint32_t const total = take_places(tile, t.rank() % width, n, before);
    if (total == 0) return;
    std::uint64_t const base = tile.once(
        [&] { return device::fetch_add(&counts->rows, static_cast<std::uint64_t>(total)); });
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      std::uint64_t at = base + before[j];
      if (n[j] == 1)
        emit(at, rows[j].value, match[j] == none ? no_row : std::uint64_t(match[j]));
      else if (n[j] > 1)
        for_each_match(table, rows[j], right, [&](std::uint32_t r) {
          emit(at++, rows[j].value, std::uint64_t(r));
          return true;
        });
    }
  }
};

}  // namespace karpos::detail::join
