// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/support/hash_run.hpp"
#include "perf/tool/count/parameters.hpp"

// Commands with --distributed, which run over the ranks of MPI; the first rank prints. In a build
// without MPI these functions throw bad_input.

namespace karpos::perf {

/// Runs `karpos bfs`: every rank draws its part of a generated graph's edges, or takes its part of
/// a file's edges. Returns the exit code.
int bfs_over_ranks(bfs_parameters const& p, bool as_json);

/// Runs `karpos count`: every rank reads the rows that begin in its part of the file's bytes.
/// Returns the exit code.
int count_over_ranks(count_options const& o);

/// Runs `karpos hash`: keys and queries are those of a run without ranks, divided among the ranks.
/// Returns the exit code.
int hash_over_ranks(hash_parameters const& p, bool as_json);

}  // namespace karpos::perf
