// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/launch_mode.hpp"

// Options (bfs_options, bfs_hooks) and the report (bfs_report) of a breadth-first search. Words: a
// team is Kokkos' team, a block on GPUs; scratch is its memory, on GPUs shared memory; a tile is a
// cooperative group, a warp on GPUs. On CPUs team and tile are one thread. "Enterprise" and
// "Beamer" are papers: see Source in bfs.hpp.

namespace karpos {

/// Chooses which levels are expanded bottom-up. A graph that is neither undirected nor has its
/// transpose is searched top-down, whatever is chosen. n is the number of vertices.
enum class bfs_direction {
  /// By estimated costs. Vertices without edges do not count as unvisited. Bottom-up
  /// - begins when edges of the frontier > unvisited vertices + n / 512, and a bottom-up level is
  ///   expected to inspect fewer than 4 edges for each edge of the frontier;
  /// - begins in any case if the level before expected that the next one would be bottom-up: it
  ///   then only counted its vertices, and there is no frontier queue to expand top-down;
  /// - ends when unvisited vertices >= edges of the frontier + n / 64.
  automatic,
  top_down,  ///< no level is expanded bottom-up
  /// Begins once a frontier holds more than the fraction `gamma` of all hubs (bfs_report), and does
  /// not end (Enterprise). If the graph has no hubs: no level is expanded bottom-up.
  gamma,
  /// Begins at a frontier that grows and has more than (unexplored edges) / alpha edges; ends at a
  /// frontier that does not grow and has at most n / beta vertices (Beamer).
  beamer
};

/// Chooses how the vertices found by a top-down level get into the frontier queue.
enum class bfs_queue {
  automatic,  ///< the faster one in measurements: collected
  collected,  ///< each tile buffers found vertices and appends full buffers to the queue
  scanned     ///< expansion sets status bits, a scan compacts the bitmap (Enterprise)
};

namespace detail {
template <>
inline constexpr enumeration<bfs_direction> enumeration_of<bfs_direction> = {
    "direction of a search", "bfs_direction", bfs_direction::beamer};
template <>
inline constexpr enumeration<bfs_queue> enumeration_of<bfs_queue> = {"frontier queue", "bfs_queue",
                                                                     bfs_queue::scanned};
}  // namespace detail

/// Options of a search. Distances do not depend on them. Parents depend on them only if a vertex
/// has several shortest paths.
struct bfs_options {
  bfs_direction direction = bfs_direction::automatic;
  bfs_queue queue = bfs_queue::automatic;
  /// Expands vertices by degree class: each by a thread, a tile, a team or the whole grid. Off: one
  /// thread expands each vertex; a search throws if a vertex has 2^27 edges or more.
  bool degree_classes = true;
  /// Looks neighbours up in the hub vertex cache before the status bitmap, in bottom-up levels.
  bool hub_cache = false;
  /// Iterates over a shrinking queue of unvisited vertices in bottom-up levels. Off: over the
  /// status bitmap.
  bool unvisited_queue = false;
  /// The largest number of levels that are explored before the grid synchronises, while frontiers
  /// are narrow. The vertices of a narrow frontier have fewer than 32 edges each (if degree_classes
  /// is on), and at most 8 on average. There are at most about 100 vertices for each multiprocessor
  /// of a GPU, or 8,000 for each thread of a CPU.
  ///
  /// GPUs begin after 16 levels in a row that have at most 16,384 vertices each, and meet both
  /// limits on edges. GPUs round local_search_hops down to a power of two. On CPUs, frontiers of
  /// 512 vertices or more (with several threads: of 128 or more) are explored by at most 16 levels
  /// at once.
  ///
  /// More than 64 has no effect. 0: every level by itself. Ignored unless direction is automatic or
  /// top_down, queue is not scanned, and unvisited_queue is off.
  std::uint32_t local_search_hops = 64;
  /// gamma, alpha and beta are not checked: distances are exact even if one is negative or NaN.
  double gamma = 0.3;            ///< fraction of all hub vertices, for bfs_direction::gamma
  double alpha = 15, beta = 18;  ///< divisors, for bfs_direction::beamer
  launch_mode driver = launch_mode::automatic;  ///< how levels run (launch_mode.hpp)
};

/// Report of one level of a search.
struct bfs_level {
  std::uint64_t vertices;  ///< vertices with this distance
  /// Edges inspected to find the next level. Top-down: all edges of this level's vertices. A local
  /// search may read a row again, which is not counted.
  std::uint64_t edges;
  /// Hub vertices of this level. 0 if this level has no queue: it was found bottom-up, or was
  /// expected to be expanded bottom-up.
  std::uint32_t hubs;
  bool bottom_up;  ///< direction in which the next level was found
};

/// Report of a search.
struct bfs_report {
  std::int32_t levels = 0;    ///< number of distances that occur: the largest is levels - 1
  std::uint64_t visited = 0;  ///< vertices with a distance, sources included
  /// Edges inspected, as bfs_level::edges counts them.
  std::uint64_t edges_top_down = 0, edges_bottom_up = 0;
  std::int32_t first_bottom_up = -1;       ///< first level expanded bottom-up; -1: none
  std::int32_t first_top_down_again = -1;  ///< first level expanded top-down after that; -1: none
  std::uint64_t hub_cache_hits = 0;        ///< neighbours found in the hub vertex cache
  /// Vertices with more edges are hubs. At least 31, also if the graph has no hubs.
  std::uint64_t hub_degree = 0;
  std::uint32_t hubs = 0;            ///< hub vertices of the graph
  bool bottom_up_available = false;  ///< whether the graph is undirected or has its transpose
  std::vector<bfs_level> level;      ///< the first 1,024 levels
};

/// Follows every edge.
struct follow_all {
  template <class VertexId>
  KOKKOS_FUNCTION bool operator()(VertexId, VertexId) const {
    return true;
  }
};
/// Does nothing when a vertex is discovered.
struct ignore_discovery {
  template <class VertexId>
  KOKKOS_FUNCTION void operator()(VertexId, std::int32_t) const {}
};

/// Functors that a search calls in its kernels (operations.hpp says what they may do).
///   follow(u, v)           returns whether the edge from u to v may be used; must return the same
///                          at every call
///   discovered(v, level)   is called once for every vertex found, sources included, even if the
///                          view names a source twice. Calls run concurrently, also calls of
///                          different levels while frontiers are narrow.
template <class Follow = follow_all, class Discovered = ignore_discovery>
struct bfs_hooks {
  Follow follow = {};
  Discovered discovered = {};
};

}  // namespace karpos
