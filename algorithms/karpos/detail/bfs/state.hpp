// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/bfs/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/lane_mask.hpp"

// What a breadth-first search keeps, and who may write it when.
//
//   visited[2]   bitmaps of n bits. Top-down levels claim vertices in visited[now]; a bottom-up level reads
//                visited[now], writes visited[1 - now] and swaps the two. An unvisited vertex with a visited
//                neighbour has that neighbour in the frontier (else it would have been found before), so that no
//                bitmap of the frontier is needed.
//   queue        n entries: every vertex enters it at most once in a whole search, so that a level is a segment
//                behind the last one. It has a region for each degree class, as long as the class.
//   levels[3]    counters of level l in levels[l % 3]: what the level's vertices are was counted while they were
//                found, one level before; the counters of the level after are cleared meanwhile.

namespace karpos::detail::bfs {

/// By whom a vertex is expanded.
enum degree_class : int { by_thread, by_tile, by_team, by_grid, degree_classes };

/// A frontier: the vertices of one level.
struct level_counters {
  std::uint32_t in_class[degree_classes];  // vertices in the queue
  std::uint32_t found;                     // vertices that are in no queue: found bottom-up
  std::uint32_t hubs;                      // of those in the queue, hubs
  std::uint32_t candidates;                // entries of the queue of unvisited vertices
  std::uint32_t unused;
  std::uint64_t edges;     // of the level's vertices
  std::uint64_t examined;  // edges looked at to find them, bottom-up
  std::uint64_t hub_hits;  // searches ended by the cache of hubs

  KOKKOS_FUNCTION std::uint64_t queued() const {
    std::uint64_t n = 0;
    for (int c = 0; c < degree_classes; ++c) n += in_class[c];
    return n;
  }
  KOKKOS_FUNCTION std::uint64_t vertices() const { return queued() + found; }
};

/// Rows of a graph or of its transpose.
template <class VertexId, class EdgeOffset>
struct rows {
  EdgeOffset const* offset;
  VertexId const* column;

  /// Unsigned and as wide as the offsets: wider would cost GPU threads registers.
  using edge = std::conditional_t<sizeof(EdgeOffset) == 4, std::uint32_t, std::uint64_t>;
  KOKKOS_FUNCTION edge begin(std::uint64_t v) const { return static_cast<edge>(offset[v]); }
  KOKKOS_FUNCTION edge end(std::uint64_t v) const { return begin(v + 1); }
  KOKKOS_FUNCTION std::uint64_t degree(std::uint64_t v) const {
    return static_cast<std::uint64_t>(offset[v + 1] - offset[v]);
  }
};

/// Everything that the steps of a search share. Template parameters: of the graph; Hooks has follow(u, v), whether
/// the edge may be used, and discovered(v, level).
template <class ExecSpace, class VertexId, class EdgeOffset, class Hooks>
struct search_state {
  using execution_space = ExecSpace;
  using vertex = VertexId;
  using tuned = tuning<ExecSpace>;
  static constexpr int width = tuned::tile_width;
  using tile = device::tile_for<ExecSpace, width>;
  static_assert(width <= 32);
  using edge = typename rows<VertexId, EdgeOffset>::edge;
  static constexpr int neighbours_of_load =
      tuned::load_bytes < int(sizeof(VertexId)) ? 1 : tuned::load_bytes / int(sizeof(VertexId));

  std::uint64_t vertices, words, edges;
  std::uint64_t reachable;  // vertices that are not isolated
  bool in_aligned;          // whether in-rows may be loaded 16 bytes at once
  rows<VertexId, EdgeOffset> out, in;
  Hooks hooks;
  std::int32_t* distance;
  VertexId* parent;  // null: not asked for

  std::uint32_t* visited[2];
  std::uint32_t const* isolated;
  std::uint32_t* queue;
  std::uint32_t* candidates[2];
  level_counters* levels;
  std::uint32_t* part_counts;  // degree_classes for each part of a scan

  std::uint64_t class_limit[degree_classes - 1];  // degrees from which on the next class begins
  std::uint64_t class_begin[degree_classes];      // regions of the queue
  std::uint64_t hub_degree;                       // hubs have more edges than that
  std::uint32_t const* hubs;
  std::uint32_t hub_count;

  KOKKOS_FUNCTION int class_of(std::uint64_t degree) const {
    int c = 0;
    for (int i = 0; i < degree_classes - 1; ++i) c += degree >= class_limit[i] ? 1 : 0;
    return c;
  }
  // Chosen by comparison: a run-time index would move the whole state of a GPU thread to local memory.
  KOKKOS_FUNCTION std::uint32_t* bitmap(int which) const {
    return which == 0 ? visited[0] : visited[1];
  }
  KOKKOS_FUNCTION std::uint32_t* candidate_queue(int which) const {
    return which == 0 ? candidates[0] : candidates[1];
  }
  KOKKOS_FUNCTION level_counters& counters(std::int32_t level) const { return levels[level % 3]; }

  /// Makes room for the counters of a level. Every step on the way to it does so two levels ahead, when nobody
  /// reads what stood there any more.
  template <class Team>
  KOKKOS_FUNCTION void clear_counters(Team const& team, std::int32_t level) const {
    if (team.league_rank() == 0 && team.rank() == 0) counters(level) = level_counters{};
  }

  /// The ids at the places e … e + N - 1 of the in-rows; anything where there is no such place. Requires: N divides e.
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(edge e, std::uint32_t (&u)[N]) const {
    if constexpr (N > 1) {
      if (in_aligned && e + N <= edges) {
        VertexId v[N];
        device::load_frozen(in.column + e, v);
        for (int i = 0; i < N; ++i) u[i] = static_cast<std::uint32_t>(v[i]);
        return;
      }
    }
    for (int i = 0; i < N; ++i)
      u[i] = e + static_cast<edge>(i) < edges
                 ? static_cast<std::uint32_t>(in.column[e + static_cast<edge>(i)])
                 : 0;
  }

  /// Writes what is known of a vertex once it is found. Requires: one caller for a vertex.
  KOKKOS_FUNCTION void discover(std::uint64_t v, std::uint64_t from, std::int32_t level) const {
    distance[v] = level;
    if (parent != nullptr) parent[v] = static_cast<VertexId>(from);
    hooks.discovered(static_cast<VertexId>(v), level);
  }
  /// The parent alone: several may write one, any of them is right.
  KOKKOS_FUNCTION void propose_parent(std::uint64_t v, std::uint64_t from) const {
    using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;
    if (parent != nullptr)
      device::store_relaxed(reinterpret_cast<word*>(parent + v), static_cast<word>(from));
  }
  KOKKOS_FUNCTION bool follows(std::uint64_t from, std::uint64_t to) const {
    return hooks.follow(static_cast<VertexId>(from), static_cast<VertexId>(to));
  }
};

KOKKOS_INLINE_FUNCTION std::uint32_t bit_of(std::uint64_t v) {
  return std::uint32_t(1) << (v % 32);
}

}  // namespace karpos::detail::bfs
