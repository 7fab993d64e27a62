// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/tool/count/parameters.hpp"

namespace karpos::perf {

/// Returns the counts and their context in the format of perf/results/README.md.
json to_json(count_options const& o, count_result const& r);

void print(count_options const& o, count_result r);

}  // namespace karpos::perf
