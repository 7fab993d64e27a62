// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/driver/bfs/parameters.hpp"
#include "perf/driver/count/parameters.hpp"
#include "perf/support/hash_run.hpp"

// Commands with --distributed: over the ranks of MPI, of which the first prints. A build without MPI has these functions, too:
// they throw bad_input.

namespace karpos::perf {

/// `karpos bfs`: every rank draws its part of a generated graph's edges, or takes its part of a file's. Returns: the exit code.
int bfs_over_ranks(bfs_parameters const& p, bool as_json);

/// `karpos count`: every rank reads the lines that begin in its part of the file's bytes. Returns: the exit code.
int count_over_ranks(count_options const& o);

/// `karpos hash`: keys and queries are those of a run without ranks, a part on each. Returns: the exit code.
int hash_over_ranks(hash_parameters const& p, bool as_json);

}  // namespace karpos::perf
