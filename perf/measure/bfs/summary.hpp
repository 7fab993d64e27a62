// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/support/context.hpp"

namespace karpos::perf {

/// Returns the median time of each search.
samples times_of(bfs_run const& run, samples bfs_result::*time);

/// Returns the time of all searches one after another: the sum of their medians.
double single_seconds(bfs_run const& run);

/// Returns the harmonic mean of the rates, as Graph500 does; 0 if a source reaches no edge.
double harmonic_mean_gteps(bfs_run const& run, samples bfs_result::*time);

/// Returns 10^9 edges of the component per joule, which is GTEPS per watt. Sums all available
/// energy counters. Requires: there is one.
double gteps_per_watt(bfs_run const& run, energy_use const& energy);

/// The figures of one preset: the median of its times over all searches, its harmonic mean rate,
/// and its gain. The gain is the median of the preset before it divided by its own; 0 for the first
/// preset.
struct preset_figures {
  double median_seconds, gteps, gain;
};
std::vector<preset_figures> figures_of_presets(bfs_run const& run);

/// Returns the fraction of the neighbours looked up bottom-up that the hub vertex cache answers, so
/// that their status is not loaded, by the searches of a preset. Returns nothing if no level was
/// searched bottom-up.
std::optional<double> loads_saved_by_hubs(bfs_run const& run, std::size_t preset);

/// Returns the run and its context in the format of perf/results/README.md.
json to_json(bfs_run const& run);

void print(bfs_run const& run);

char const* name_of(bfs_direction direction);

}  // namespace karpos::perf
