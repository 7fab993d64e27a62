// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/tool/join/table_files.hpp"

namespace karpos::perf {

/// Return the report and its context in the format of perf/results/README.md.
json to_json(join_parameters const& p, joined_files const& joined);
json to_json(distinct_parameters const& p, distinct_file const& found);

void print(join_parameters const& p, joined_files const& joined);
void print(distinct_parameters const& p, distinct_file const& found);

}  // namespace karpos::perf
