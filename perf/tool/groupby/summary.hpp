// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/tool/groupby/parameters.hpp"

namespace karpos::perf {

/// Returns the groups and their context in the format of perf/results/README.md.
json to_json(groupby_parameters const& p, file_groups const& groups);

void print(groupby_parameters const& p, file_groups const& groups);

}  // namespace karpos::perf
