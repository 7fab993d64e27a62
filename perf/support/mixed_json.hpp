// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/support/context.hpp"
#include "perf/support/mixed_run.hpp"

namespace karpos::perf {

/// The run with its context, as perf/results/README.md describes it.
json to_json(mixed_run const& run);

}  // namespace karpos::perf
