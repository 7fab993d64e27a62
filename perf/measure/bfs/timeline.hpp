// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "perf/measure/bfs/parameters.hpp"

namespace karpos::perf {

/// Makes the timeline of a search of its kernels. A kernel that expands a frontier begins a level;
/// those before the first one are counted for level 0.
bfs_timeline timeline_of(std::string const& preset, double seconds,
                         std::vector<timed_kernel> const& kernels);

/// Returns the label of a kernel without its namespaces.
std::string step_name(std::string const& label);

void print(bfs_timeline const& timeline);

}  // namespace karpos::perf
