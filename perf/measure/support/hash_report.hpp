// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/measure/support/hash_run.hpp"

namespace karpos::perf {

/// Returns the run and its context in the format of perf/results/README.md.
json to_json(hash_run const& run);
void print(hash_run const& run);

}  // namespace karpos::perf
