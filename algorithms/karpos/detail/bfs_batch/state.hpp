// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/bfs/for_each_index.hpp"
#include "karpos/detail/bfs/state.hpp"
#include "karpos/detail/bfs_batch/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"

// The memory of up to 64 searches at once. Search i has bit i of every word; vertices are numbered by falling degree.
//
//   seen[v]       the searches that have found v
//   front[2][v]   front[current]: the searches in whose frontier v stands. Push levels add to front[1 - current], which
//                 is all zero before; pull levels write all of it. The two swap at the end of a level.
//   bits[2]       bitmaps of the vertices whose word of front[] is not zero, where the last level was a push
//   items         frontier queue of push levels: a vertex and which 256 of its edges. Valid as bits[current] is.
//   plane[v]      distances in 4 bit planes: bit i of plane k is bit k of the value of search i, and a value is
//                 distance - base + 1, 0 for not found. A level with value 5 sets the found searches in the planes 0
//                 and 2. When the 15 values are used up, the results are written and the planes are cleared.
//   levels[3]     totals of a level, by level % 3, as in bfs: level l + 1 is counted while l is expanded, which clears l + 2

namespace karpos::detail::bfs_batch {

using bfs::bit_of;
using bfs::local_vertex;

/// A bit for each search.
using word = std::uint64_t;
inline constexpr int searches_at_once = 64, planes = 4;
inline constexpr std::int32_t last_value = (1 << planes) - 1;

/// Of the vertices that are new to a search on this level.
struct level_totals {
  word reached;         // searches that have found any
  std::uint64_t edges;  // of these vertices, each counted once
  std::uint64_t items;  // of the frontier queue
};

/// What the loop remembers from level to level (as bfs::progress), and from one part of a deep search to the next.
struct progress {
  level_totals frontier;
  std::uint64_t edges_pushed;
  std::int32_t level;  // distance of the frontier
  std::int32_t base;   // planes hold distance - base + 1
  std::int32_t pull_levels;
  std::int32_t wide;  // last level that has been pulled; 0: none
  int current;
  bool pull, has_items;
  bool full;  // all values are used up
  bool done;
  bool one_by_one;  // the rest of the pass is not worth it: its searches are made one by one
  std::int32_t levels[searches_at_once];  // of each search that has ended: distances that occur
};

/// Sums over the vertices that a search has found.
struct search_totals {
  std::uint64_t visited[searches_at_once];
  std::uint64_t distances[searches_at_once];
};
/// What the host reads.
struct batch_record {
  progress state;
  search_totals totals;
};

/// What every step sees.
template <class ExecSpace, class EdgeOffset>
struct batch_state {
  using execution_space = ExecSpace;
  using tuned = tuning<ExecSpace>;
  static constexpr int width = tuned::width;
  using graph_rows = bfs::rows<local_vertex, EdgeOffset>;
  using edge = typename graph_rows::edge;

  std::uint64_t vertices, words, edges;  // words: of a bitmap
  std::uint64_t pull_rows;               // vertices before this one have in-edges
  // Of these, the first ones have rows for a team, for many and for some lanes.
  std::uint64_t team_rows, many_rows, some_rows;
  std::uint32_t hot;  // vertices whose frontier words fit the scratch of a team
  graph_rows out, in;
  word* seen;
  word* front[2];
  std::uint32_t* bits[2];
  word* plane;
  std::uint64_t* items;
  local_vertex const* sources;
  int searches;
  level_totals* levels;
  search_totals* totals;

  // By comparison: a run-time index would move the state of a GPU thread to local memory.
  KOKKOS_FUNCTION word* front_of(int which) const { return which == 0 ? front[0] : front[1]; }
  KOKKOS_FUNCTION std::uint32_t* bits_of(int which) const { return which == 0 ? bits[0] : bits[1]; }
  KOKKOS_FUNCTION level_totals& totals_of(std::int32_t level) const { return levels[level % 3]; }
  KOKKOS_FUNCTION std::uint64_t items_of(local_vertex v) const {
    return (out.degree(v) + tuned::item_edges - 1) / tuned::item_edges;
  }
  /// Clears the totals of a level, which no step reads any more when it is two levels ahead.
  template <class Team>
  KOKKOS_FUNCTION void clear_totals(Team const& team, std::int32_t level) const {
    if (team.league_rank() == 0 && team.rank() == 0) totals_of(level) = level_totals{};
  }
  /// Notes on lane `lane` of a tile of W that searches `x` have found v with a value. Requires: one tile for each v.
  template <int W>
  KARPOS_STEP_FUNCTION void note(int lane, local_vertex v, word x, std::int32_t value) const {
    for (int k = lane; k < planes; k += W)
      if ((value >> k & 1) != 0) plane[std::uint64_t(v) * planes + static_cast<unsigned>(k)] |= x;
  }
};

/// What a thread adds up over its vertices.
struct thread_totals {
  word reached = 0;
  std::uint64_t edges = 0;
};

/// The bits that any lane has, on all lanes.
template <class Tile>
KARPOS_STEP_FUNCTION typename Tile::template varying<word> or_of_lanes(
    Tile const& t, typename Tile::template varying<word> mine) {
  for (int o = Tile::width / 2; o > 0; o /= 2) {
    auto const other = t.gather(mine, [&](int lane) { return lane ^ o; });
    mine = t.each([&](int lane) -> word { return mine[lane] | other[lane]; });
  }
  return mine;
}

/// Adds the sums of a team's threads to a level's totals. All threads of the team take part.
template <class ExecSpace, class Team>
KOKKOS_FUNCTION void add_totals(Team const& team, thread_totals const& sum, level_totals& to) {
  std::uint64_t edges = 0;
  team.prefix_sum(sum.edges, edges);
  if (team.rank() == 0 && edges != 0) device::add(&to.edges, edges);
  auto const set = [&](word reached) {
    if ((reached & ~device::load_relaxed(&to.reached)) != 0) device::set_bits(&to.reached, reached);
  };
  if constexpr (device::is_device<ExecSpace>) {
    auto const t = team.template this_tile<tuning<ExecSpace>::width>();
    auto const all = or_of_lanes(t, t.each([&](int) -> word { return sum.reached; }));
    t.on(lane_mask<tuning<ExecSpace>::width>::of(0), [&](int lane) { set(all[lane]); });
  } else {
    set(sum.reached);
  }
}

}  // namespace karpos::detail::bfs_batch
