// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/launch_mode.hpp"

// Options (sssp_options) and the report (sssp_report) of shortest paths.

namespace karpos {

/// Options of sssp. Distances do not depend on them. Parents depend on them only if a vertex has
/// several shortest paths.
struct sssp_options {
  /// The width of the first buckets of distances: vertices of a bucket are expanded until they do
  /// not change, then those of the next one. 0: automatic, the workspace's delta(). Narrow buckets
  /// need more rounds, wide ones expand more vertices in vain. Once half of all edges have been
  /// inspected, the width is doubled after each bucket of few edges, also if the caller chose it.
  double delta = 0;
  /// How much farther than the hubs, the vertices of most edges, distances are still pushed; in the
  /// unit of the weights. It counts from the end of the bucket in which about 1/128 of all edges
  /// have been inspected, because the hubs are near then. Vertices farther away pull their
  /// distances along their own edges. Pulling inspects fewer edges if most vertices are about as
  /// far from the hubs, as in social networks. Used only for undirected graphs in which every edge
  /// weighs the same in both directions; ignored for others. 0: automatic, the workspace's reach().
  /// Infinity: nothing is pulled.
  double reach = 0;
  /// The largest number of hops that a team goes by itself before the grid synchronises, while few
  /// vertices are to be expanded. 0: every round is one hop.
  std::uint32_t window_hops = 32;
  launch_mode driver = launch_mode::automatic;
};

/// Report of a call of sssp.
struct sssp_report {
  double delta = 0;            ///< width of the first buckets
  std::uint64_t buckets = 0;   ///< buckets that were begun; one without a vertex may count
  std::uint64_t rounds = 0;    ///< rounds, each with a grid-wide synchronisation
  std::uint64_t windows = 0;   ///< rounds of several hops, among these
  std::uint64_t vertices = 0;  ///< vertices taken out of queues that all teams share
  std::uint64_t edges = 0;     ///< edges inspected, again for each expansion of a vertex
  std::uint64_t passes = 0;    ///< passes that pull the vertices beyond the reach
};

}  // namespace karpos
