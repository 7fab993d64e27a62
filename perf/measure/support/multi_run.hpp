// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/support/hash_run.hpp"

namespace karpos::perf {

/// Measures hash_multimap with p.keys pairs in a random order, p.multiplicity of which have the
/// same key, like run_hash. All answers are verified. The operations:
/// - insert;
/// - count: a query for each pair;
/// - retrieve: a query for each key, in pairs per second;
/// - `count by W`, for each width W of p.widths: a query for each pair, W lanes per query;
/// - `visit by W`: a query for each key, W lanes per query, in pairs per second;
/// - insert and find hits of hash_map with as many distinct keys as there are pairs.
hash_run run_multi(hash_parameters const& p, reporter const& report);

}  // namespace karpos::perf
