// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "perf/measure/paper/figure.hpp"
#include "perf/measure/support/hash_run.hpp"

namespace karpos::perf::paper {

/// Returns measurements of maps that hold `keys` keys at this load. They are made unless an earlier
/// figure has asked for them.
hash_run measured_maps(std::vector<std::string> const& maps, double keys, double load,
                       scale const& s, reporter const& report);

}  // namespace karpos::perf::paper
