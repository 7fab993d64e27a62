// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/support/hash_run.hpp"

namespace karpos::perf {

/// As run_hash, of hash_multimap with p.keys pairs of which p.multiplicity have the same key, in a random order: insert;
/// count, a query for each pair; retrieve, a query for each key, in pairs per second. Beside it hash_map with as many different
/// keys: insert, find hits. All answers are verified. For each width W of p.widths also `count by W`, a query for each pair,
/// and `visit by W`, a query for each key, in pairs per second: kernels in which W lanes work on one query.
hash_run run_multi(hash_parameters const& p, reporter const& report);

}  // namespace karpos::perf
