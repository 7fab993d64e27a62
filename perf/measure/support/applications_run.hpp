// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "perf/measure/support/statistics.hpp"

// Runs of the applications in docs/examples: geometric hashing, and the intersection of surfaces.

namespace karpos::perf {

struct matching_parameters {
  std::uint32_t models = 100, scenes = 8, points = 12;  ///< points of a model, and of a scene
  int repetitions = 5;
};
struct matching_run {
  samples build;                    ///< of the table of models
  samples by_table, by_comparison;  ///< votes and matches of all scenes
  std::uint64_t listed = 0;         ///< pairs in the table
  std::uint64_t votes = 0;          ///< of all trials
  std::uint64_t found = 0;          ///< scenes that are matched with the model that they show
  std::uint64_t wrong = 0;          ///< votes that differ from those by comparison
};
/// Matches scenes with models (docs/examples/geometric_hashing.hpp), 24 trials a scene at most.
matching_run run_matching(matching_parameters const& p);

struct surfaces_parameters {
  std::uint32_t triangles = 10'000;  ///< of each of the two surfaces, about
  int frames = 5;
};
struct surfaces_run {
  samples frame;         ///< building the grid, and finding all pairs
  samples without_grid;  ///< judging all pairs, once; empty if these are too many
  std::uint64_t triangles = 0;
  std::uint64_t pairs = 0;  ///< that intersect in the last frame
  std::uint64_t wrong = 0;  ///< pairs of the last frame that only one of the two ways found
};
/// Intersects two surfaces, one of which moves (docs/examples/intersecting_surfaces.hpp). If there
/// are too many pairs to judge all without a grid, those of a sample are.
surfaces_run run_surfaces(surfaces_parameters const& p);

}  // namespace karpos::perf
