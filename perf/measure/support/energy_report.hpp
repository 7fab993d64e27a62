// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/measure/support/energy.hpp"

namespace karpos::perf {

/// Returns the counters that could be read, and why others could not, in the format of
/// perf/results/README.md.
json to_json(energy_use const& e);

/// Prints the energy of one operation, a line for the GPU and one for the processors: "energy of
/// the GPU: 210 mJ a search (520 W)".
void print(energy_use const& e, std::string const& operation, double operations);

}  // namespace karpos::perf
