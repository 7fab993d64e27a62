// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "karpos/launch_mode.hpp"

// What a batch of breadth-first searches is told (bfs_batch_options) and what it answers beside the distances
// (bfs_batch_report).

namespace karpos {

/// Options of a batch of searches. What it finds depends on the first alone.
struct bfs_batch_options {
  /// Vertices farther away than that count as not reached. Not negative.
  std::int32_t max_distance = std::numeric_limits<std::int32_t>::max() - 1;
  /// Levels whose frontier, of all searches together, has at least this part of all edges pull: each vertex looks at its
  /// in-neighbours. The first such level, and those after it. 0: every level; above 1: none.
  double pull_from = 1. / 8, pull_until = 1. / 60;
  launch_mode driver = launch_mode::automatic;
};

/// What one search of a batch has found.
struct bfs_source_report {
  std::int32_t levels = 0;          ///< distances that occur: the largest is levels - 1
  std::uint64_t visited = 0;        ///< vertices with a distance, the source included
  std::uint64_t sum_distances = 0;  ///< of these
};

/// What a batch of searches did.
struct bfs_batch_report {
  std::vector<bfs_source_report> source;  ///< of each source, in the order of the sources
  std::int32_t levels = 0;                ///< of the longest search of each pass, added up
  std::int32_t pull_levels = 0;           ///< of these; those at max_distance are not expanded
  std::uint64_t edges_pushed = 0;         ///< by the other levels, each for all its searches
  /// Searches that were made one after another, by bfs, for their pass had many levels of few vertices: pull_levels and
  /// edges_pushed do not count theirs.
  std::uint64_t one_by_one = 0;
};

}  // namespace karpos
