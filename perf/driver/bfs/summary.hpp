// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/driver/bfs/parameters.hpp"
#include "perf/support/context.hpp"

namespace karpos::perf {

/// Times of the searches: of each, its median.
samples times_of(bfs_run const& run, samples bfs_result::*time);

/// Of the searches one after another: the sum of their medians.
double single_seconds(bfs_run const& run);

/// Over all searches, as Graph500 averages rates; 0 if a source reaches no edge.
double harmonic_mean_gteps(bfs_run const& run, samples bfs_result::*time);

/// Edges of the component by joule, 10^9 of them: of all that counts joules. Requires: something does.
double gteps_per_watt(bfs_run const& run, energy_use const& energy);

/// Of one preset: the median of its times over all searches, its harmonic mean, and the median of the preset before
/// it over its own; 0 for the first.
struct preset_figures {
  double median_seconds, gteps, gain;
};
std::vector<preset_figures> figures_of_presets(bfs_run const& run);

/// The run with its context, as perf/results/README.md describes it.
json to_json(bfs_run const& run);

void print(bfs_run const& run);

char const* name_of(bfs_direction direction);

}  // namespace karpos::perf
