// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/measure/topk/parameters.hpp"

namespace karpos::perf {

/// Returns the run and its context in the format of perf/results/README.md.
json to_json(topk_run const& run);

void print(topk_run const& run);

char const* name_of(top_k_result result);
char const* name_of(top_k_ties ties);
char const* name_of(top_k_bail_out when);
std::string name_of(stride_policy const& stride);

}  // namespace karpos::perf
