// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/graph/bfs_batch/tuning.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"

// The memory of up to 64 concurrent searches. Search i has bit i of every word. Vertices are
// numbered by falling degree. Terms (tile, team, lane, scratch, step): see
// frontier/frontier.hpp.
//
//   seen[v]      the searches that have found v
//   front[2][v]  front[current]: the searches whose frontier holds v. Push levels OR into front[1 -
//                current], which is all zero before; pull levels write all of it. The two swap at
//                the end of a level
//   bits[2]      bitmaps of the vertices whose word of front[] is not zero. Pull levels write
//                neither these nor `items`: list_frontier makes both before the next push level
//   items        frontier queue of push levels: an item is a vertex and which 256 of its edges
//   plane[v]     distances in 4 bit planes: bit i of plane k is bit k of the value of search i. The
//                value is distance - base + 1, or 0 for not found. A level of value 5 sets the bits
//                of the searches that found v in planes 0 and 2. When all 15 values are used, the
//                results are written and the planes are cleared
//   levels[3]    totals of level l in levels[l % 3], as in bfs: level l + 1 is counted while level
//                l is expanded, which also clears the totals of level l + 2
//
// bfs_batch.hpp explains push and pull levels, and what follows.
// Tests: bfs_batch, stepwise_searches, paths.

namespace karpos::detail::bfs_batch {

using namespace frontier;

/// A bit for each search.
using word = std::uint64_t;
inline constexpr int searches_at_once = 64, planes = 4;
inline constexpr std::int32_t last_value = (1 << planes) - 1;

/// Totals over the vertices that a search finds on this level.
struct level_totals {
  word reached;         // searches that have found a vertex
  std::uint64_t edges;  // of these vertices; a vertex counts once
  std::uint64_t items;  // in the frontier queue
};

/// State that the loop keeps between levels (like bfs::progress), and between parts of a pass.
struct progress {
  level_totals frontier;
  std::uint64_t edges_pushed;
  std::int32_t level;  // distance of the frontier
  std::int32_t base;   // planes hold distance - base + 1
  std::int32_t pull_levels;
  std::int32_t last_pull_level;  // last level that was pulled; 0: none
  int current;
  bool pull, has_items;
  bool full;  // all values are used up
  bool done;
  bool one_by_one;  // the rest of the pass does not pay: run its searches one by one
  // Number of distances that occur, for each search that has ended.
  std::int32_t levels[searches_at_once];
};

/// Record of a pass, which the host reads, with sums over the vertices that each search has found.
struct batch_record {
  progress state;
  std::uint64_t visited[searches_at_once], distances[searches_at_once];
};

/// Everything that the steps of a pass share.
template <class ExecSpace, class EdgeOffset>
struct batch_state {
  using execution_space = ExecSpace;
  using tuned = tuning<ExecSpace>;
  static constexpr int width = tuned::width;
  using graph_rows = rows<local_vertex, EdgeOffset>;
  using edge = typename graph_rows::edge;

  std::uint64_t vertices, words, edges;  // words: of a bitmap
  std::uint64_t pull_rows;               // only vertices before this one have in-edges
  // The vertices before team_rows are pulled by a team each; those before large_rows by large_lanes
  // lanes, those before medium_rows by medium_lanes, and the others by small_lanes (see tuning).
  std::uint64_t team_rows, large_rows, medium_rows;
  // Number of first vertices whose frontier words are cached in a team's scratch.
  std::uint32_t cached;
  graph_rows out, in;
  word* seen;
  word* front[2];
  std::uint32_t* bits[2];
  word* plane;
  std::uint64_t* items;
  local_vertex* sources;
  int searches;
  level_totals* levels;
  batch_record* record;

  // By comparison: a run-time index would move the state of a GPU thread to local memory.
  KOKKOS_FUNCTION word* front_of(int which) const { return which == 0 ? front[0] : front[1]; }
  KOKKOS_FUNCTION std::uint32_t* bits_of(int which) const { return which == 0 ? bits[0] : bits[1]; }
  KOKKOS_FUNCTION level_totals& totals_of(std::int32_t level) const { return levels[level % 3]; }
  KOKKOS_FUNCTION std::uint64_t items_of(local_vertex v) const {
    return (out.degree(v) + tuned::item_edges - 1) / tuned::item_edges;
  }
  /// Clears the totals of a level, two levels ahead: no step reads these totals any more.
  template <class Team>
  KOKKOS_FUNCTION void clear_totals(Team const& team, std::int32_t level) const {
    if (team.league_rank() == 0 && team.rank() == 0) totals_of(level) = level_totals{};
  }
  /// Records, on a lane of the only tile (of W lanes) for v, that searches `x` have found v.
  template <int W>
  KARPOS_STEP_FUNCTION void record_value(int lane, local_vertex v, word x,
                                         std::int32_t value) const {
    for (int k = lane; k < planes; k += W)
      if ((value >> k & 1) != 0) plane[std::uint64_t(v) * planes + static_cast<unsigned>(k)] |= x;
  }
};

/// Sums of a thread over its vertices.
struct thread_totals {
  word reached = 0;
  std::uint64_t edges = 0;
};

/// Returns, on all lanes, the bits that any lane has.
template <class Tile>
KARPOS_STEP_FUNCTION typename Tile::template varying<word> or_of_lanes(
    Tile const& t, typename Tile::template varying<word> mine) {
  for (int o = Tile::width / 2; o > 0; o /= 2) {
    auto const other = t.gather(mine, [&](int lane) { return lane ^ o; });
    mine = t.each([&](int lane) -> word { return mine[lane] | other[lane]; });
  }
  return mine;
}

/// Adds the sums of a team's threads to a level's totals. All threads of the team must call it.
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
