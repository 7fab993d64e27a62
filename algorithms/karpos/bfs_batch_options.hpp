// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "karpos/launch_mode.hpp"

// Options (bfs_batch_options) and the report (bfs_batch_report) of a batch of searches.

namespace karpos {

/// Options of a batch of searches. Only max_distance changes what is found.
struct bfs_batch_options {
  /// The largest distance: vertices farther away count as not reached. Not negative.
  std::int32_t max_distance = std::numeric_limits<std::int32_t>::max() - 1;
  /// Thresholds for levels that pull (each vertex inspects its in-edges), as fractions of all
  /// edges. Pulling begins when the frontier of all searches together has at least pull_from of all
  /// edges, and goes on while it has at least pull_until. Both 0: every level; pull_from above 1:
  /// none. They are not checked: a negative number has the effect of 0, and a NaN that of a number
  /// above 1. Pulling needs an undirected graph, or one with its transpose.
  double pull_from = 1. / 8, pull_until = 1. / 60;
  launch_mode driver = launch_mode::automatic;  ///< how levels run (launch_mode.hpp)
};

/// Report of one search of a batch.
struct bfs_source_report {
  std::int32_t levels = 0;          ///< number of distances that occur: the largest is levels - 1
  std::uint64_t visited = 0;        ///< vertices with a distance, the source included
  std::uint64_t sum_distances = 0;  ///< sum of the distances of these vertices
};

/// Report of a batch of searches.
struct bfs_batch_report {
  std::vector<bfs_source_report> source;  ///< a report for each source, in their order
  /// The levels of the longest search of each pass (up to 64 searches), summed over the passes.
  /// Includes passes whose searches ran one by one.
  std::int32_t levels = 0;
  std::int32_t pull_levels = 0;  ///< levels expanded by pulling
  /// Edges of the pushed frontiers. If several searches of a pass have one vertex in their
  /// frontiers, its edges count once.
  std::uint64_t edges_pushed = 0;
  /// Searches that bfs made one after another, because their pass had many levels of few vertices.
  /// pull_levels and edges_pushed do not count what they did.
  std::uint64_t one_by_one = 0;
};

}  // namespace karpos
