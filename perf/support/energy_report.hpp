// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/support/context.hpp"
#include "perf/support/energy.hpp"

namespace karpos::perf {

/// The counters that tell, and why others do not, as perf/results/README.md describes them.
json to_json(energy_use const& e);

/// A line for the GPU and one for the processors, by operation: "energy of the GPU: 210 mJ a search (520 W)".
void print(energy_use const& e, std::string const& operation, double operations);

}  // namespace karpos::perf
