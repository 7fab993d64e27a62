// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/launch_mode.hpp"

// What shortest paths are told (sssp_options), and what they answer beside the distances (sssp_report).

namespace karpos {

/// Options of sssp. Distances do not depend on them; parents only in which of several shortest paths they follow.
struct sssp_options {
  /// Width of the first buckets of distances: vertices of one are expanded until they do not
  /// change, then those of the next. 0: automatic, the workspace's `delta`. Narrow ones need more
  /// rounds, wide ones expand more vertices in vain. Once half of all edges have been looked at,
  /// the width is doubled after each bucket of few edges, also if the caller chose it.
  double delta = 0;
  /// How far beyond the first hubs vertices are told their distances by nearer ones; those farther away look for them among
  /// their own edges: fewer looks where most vertices are about as far from the hubs, as in social networks. For undirected graphs
  /// in which an edge weighs the same in both directions; others do without. 0: automatic, the workspace's `reach`;
  /// infinity: nowhere.
  double reach = 0;
  /// Hops that a team goes by itself where few vertices are to be expanded. 0: rounds of one hop alone.
  std::uint32_t window_hops = 32;
  launch_mode driver = launch_mode::automatic;
};

/// What was done.
struct sssp_report {
  double delta = 0;            ///< width of the first buckets
  std::uint64_t buckets = 0;   ///< that had a vertex, about
  std::uint64_t rounds = 0;    ///< meetings of all teams
  std::uint64_t windows = 0;   ///< of these, rounds of several hops
  std::uint64_t vertices = 0;  ///< taken out of queues that all teams share
  std::uint64_t edges = 0;     ///< of expanded vertices, again where one was expanded again
  std::uint64_t passes = 0;    ///< over the vertices beyond the reach
};

}  // namespace karpos
