// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/launch_mode.hpp"

// What a breadth-first search is told (bfs_options, bfs_hooks) and what it answers beside the distances (bfs_report).

namespace karpos {

/// The direction switch: which levels are expanded bottom-up.
enum class bfs_direction {
  automatic,  ///< those whose frontier has more edges than there are unvisited vertices
  top_down,   ///< none
  gamma,      ///< all, once the frontier holds more than `gamma` of all hub vertices (Enterprise)
  beamer      ///< from frontier edges > unexplored edges / alpha to vertices < n / beta (Beamer)
};

/// How the vertices that a top-down level finds get into the frontier queue.
enum class bfs_queue {
  automatic,  ///< the one that measures best: collected
  collected,  ///< tiles gather what they find in bins and append full bins to the queue
  scanned     ///< expansion sets status bits, a scan of the bitmap compacts them (Enterprise)
};

/// Options of a search. Distances do not depend on them; parents only in which of several shortest paths they follow.
struct bfs_options {
  bfs_direction direction = bfs_direction::automatic;
  bfs_queue queue = bfs_queue::automatic;
  /// Expand vertices by degree class: a thread, a tile, a team or the grid each; off: every vertex by one lane.
  bool degree_classes = true;
  /// Look neighbours up in the hub vertex cache before the status bitmap, bottom-up.
  bool hub_cache = false;
  /// Bottom-up over a shrinking queue of unvisited vertices; off: over the status bitmap.
  bool unvisited_queue = false;
  /// Levels that are explored at a time where frontiers are narrow, at most; GPUs take the power of two that this holds. 0: one by
  /// one.
  std::uint32_t window_hops = 64;
  double gamma = 0.3;            ///< fraction of all hub vertices (bfs_direction::gamma)
  double alpha = 15, beta = 18;  ///< of bfs_direction::beamer
  launch_mode driver = launch_mode::automatic;
};

/// One level of a search.
struct bfs_level {
  std::uint64_t vertices;  ///< with this distance
  std::uint64_t edges;     ///< inspected to find the next level
  std::uint32_t hubs;      ///< hub vertices among those that were queued or found in a window
  bool bottom_up;          ///< direction in which the next level was found
};

/// What a search did.
struct bfs_report {
  std::int32_t levels = 0;    ///< distances that occur: the largest is levels - 1
  std::uint64_t visited = 0;  ///< vertices with a distance, sources included
  std::uint64_t edges_top_down = 0, edges_bottom_up = 0;  ///< inspected
  std::int32_t first_bottom_up = -1;       ///< first level expanded bottom-up; -1: none
  std::int32_t first_top_down_again = -1;  ///< first level expanded top-down after that; -1: none
  std::uint64_t hub_cache_hits = 0;
  std::uint64_t hub_degree = 0;      ///< vertices with more edges are hubs
  std::uint32_t hubs = 0;            ///< hub vertices of the graph
  bool bottom_up_available = false;  ///< the graph is undirected, or has its transpose
  std::vector<bfs_level> level;      ///< the first 1,024
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
///   follow(u, v)           whether the edge from u to v may be used; must answer the same at every call
///   discovered(v, level)   called once for every vertex found, sources included; calls run concurrently, where
///                          frontiers are narrow also those of other levels
template <class Follow = follow_all, class Discovered = ignore_discovery>
struct bfs_hooks {
  Follow follow = {};
  Discovered discovered = {};
};

}  // namespace karpos
