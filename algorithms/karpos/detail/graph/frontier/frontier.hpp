// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

// The frontier: the vertices that a search expands next. bfs, bfs_batch and sssp use the parts in
// this folder, on one device and over several ranks.
//
// Terms: a team is Kokkos' team (a CUDA block; one thread on CPUs), a lane is a thread of it. A
// tile is a group of lanes that cooperate, as a cooperative group does: a warp on GPUs. Scratch is
// the team's scratch memory (shared memory). A step is a kernel, or the part of a persistent kernel
// between two grid barriers.
//
//   frontier queue   one array in global memory, with a region for each degree class:
//
//                    |by_thread             |by_tile         |by_team   |by_grid|
//                    | old |frontier|next>  | old|front.|ne> | …        | …     |
//                          head     tail
//
//   bins             in scratch, one for each tile:   |v|v|v|…|    |v|…|    |v|v|…|
//   team queues      in scratch, two for each team:   |hop k: v|v|v|…|  |hop k + 1: v|v|…|
//
// walk      frontier_walk.hpp divides the edges out of the frontier into chunks, and each tile
//           expands some. A team or the grid shares a vertex of many edges, and vertices of few
//           edges share a tile, so that no thread waits for the longest row.
// push      queue.hpp appends the vertices that a step finds. A tile gathers them in its bin. It
//           appends a full bin to the queue with one fetch_add for each degree class, which also
//           counts them in the totals of the next level (level_counters).
// advance   The loop over levels reads these totals once all teams are done. The entries between
//           the old tail and the new one are then the frontier.
// explore   If the frontier is narrow, a team may explore several hops from a slice of it without
//           waiting for the other teams. queue.hpp holds the vertices of these hops, too.
//
// plan.hpp checks arguments, and counts the vertices of each class. tuning.hpp holds the constants
// that bfs and sssp share.
//
// Source: degree classes and bins are Enterprise's (Liu, Huang, SC 2015).
//
// Tests: conformance/{bfs,bfs_goldens,bfs_local_search,bfs_batch,sssp}.cpp run the searches;
// concurrency/bfs_on_threads.cpp runs the steps of bfs on plain threads.

namespace karpos::detail::frontier {

/// A vertex by its number on this device: an index of bitmaps, distances and rows, an entry of
/// queues. State::vertex_id is the graph's own (global) number; State::local and State::global
/// convert. On one device both have the same value.
using local_vertex = std::uint32_t;

KOKKOS_INLINE_FUNCTION std::uint32_t bit_of(std::uint64_t v) {
  return std::uint32_t(1) << (v % 32);
}

/// Degree classes: the unit that expands a vertex (Enterprise's thread, warp, CTA and grid).
enum degree_class : int { by_thread, by_tile, by_team, by_grid, degree_classes };

/// Totals of one level over all teams, added up while the level is found.
struct level_counters {
  std::uint32_t in_class[degree_classes];  // vertices in the frontier queue
  std::uint32_t unqueued;                  // vertices found without entering the queue
  std::uint32_t hubs;                      // hub vertices among those in the queue
  std::uint32_t unvisited;                 // entries of the next queue of unvisited vertices
  std::uint32_t listed;                    // vertices listed for other ranks
  std::uint64_t edges;                     // of the level's vertices
  std::uint64_t edges_examined;            // to find them, bottom-up
  std::uint64_t hub_hits;                  // neighbours found in the hub vertex cache

  KOKKOS_FUNCTION std::uint64_t queued() const {
    std::uint64_t n = 0;
    for (int c = 0; c < degree_classes; ++c) n += in_class[c];
    return n;
  }
  KOKKOS_FUNCTION std::uint64_t vertices() const { return queued() + unqueued; }
};

/// Returns the degree class of a vertex. limit: smallest degrees of the classes but the first.
KOKKOS_INLINE_FUNCTION int class_of(std::uint64_t const (&limit)[degree_classes - 1],
                                    std::uint64_t degree) {
  int c = 0;
  for (int i = 0; i < degree_classes - 1; ++i) c += degree >= limit[i] ? 1 : 0;
  return c;
}

/// The frontier queue. The states of searches derive from it.
struct frontier_queue {
  std::uint64_t class_limit[degree_classes - 1];  // smallest degrees of the classes but the first
  std::uint64_t class_begin[degree_classes];      // first entries of the regions of the queue
  std::uint64_t hub_degree;                       // vertices with more edges are hubs
  local_vertex* queue;

  /// Divides the queue into a region for each class. size: vertices of each class.
  template <class Tuning>
  void set_classes(std::uint64_t const (&size)[degree_classes]) {
    std::uint64_t const limits[] = {Tuning::tile_degree, Tuning::team_degree, Tuning::grid_degree};
    for (int c = 1; c < degree_classes; ++c) {
      class_limit[c - 1] = limits[c - 1];
      class_begin[c] = class_begin[c - 1] + size[c - 1];
    }
  }
  /// Puts all vertices into the first class.
  void set_one_class(std::uint64_t vertices) {
    for (int c = 1; c < degree_classes; ++c) {
      class_limit[c - 1] = ~std::uint64_t(0);
      class_begin[c] = vertices;
    }
  }
  /// Returns the frontier's vertices of class c. p: progress of the loop.
  template <class Progress>
  KOKKOS_FUNCTION local_vertex const* segment(Progress const& p, int c) const {
    return queue + static_cast<std::uint32_t>(class_begin[c]) + p.head[c];
  }
  KOKKOS_FUNCTION int class_of(std::uint64_t degree) const {
    return frontier::class_of(class_limit, degree);
  }
  KOKKOS_FUNCTION int class_of(local_vertex, std::uint64_t degree) const {
    return class_of(degree);
  }
};

/// Runs f(i) for every i in [0, n), spread over the lanes of the grid.
template <int W, class Team, class F>
KOKKOS_FUNCTION void for_each_index(Team& team, std::uint64_t n, F const& f) {
  auto const t = team.template this_tile<W>();
  team.template for_each_tile<W>((n + W - 1) / W, [&](std::uint64_t tile) {
    t.each([&](int lane) {
      std::uint64_t const i = tile * W + static_cast<std::uint64_t>(lane);
      if (i < n) f(i);
    });
  });
}

/// Rows of a graph or of its transpose, by local vertex; the columns are global vertex ids.
template <class VertexId, class EdgeOffset>
struct rows {
  EdgeOffset const* offset;
  VertexId const* column;

  /// An unsigned type as wide as the offsets: a wider one would cost GPU threads registers.
  using edge = std::conditional_t<sizeof(EdgeOffset) == 4, std::uint32_t, std::uint64_t>;
  KOKKOS_FUNCTION edge begin(std::uint64_t v) const { return static_cast<edge>(offset[v]); }
  KOKKOS_FUNCTION edge end(std::uint64_t v) const { return begin(v + 1); }
  KOKKOS_FUNCTION std::uint64_t degree(std::uint64_t v) const {
    return static_cast<std::uint64_t>(offset[v + 1] - offset[v]);
  }
};

}  // namespace karpos::detail::frontier
