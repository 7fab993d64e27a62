// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/bfs/rank_searches.hpp"
#include "perf/measure/support/hash_run.hpp"
#include "perf/tool/count/parameters.hpp"

// Commands with --distributed, which run over the ranks of MPI; the first rank prints. In a build
// without MPI these functions throw bad_input.

namespace karpos::perf {

/// Runs `karpos bfs`: every rank draws its part of a generated graph's edges, or takes its part of
/// a file's edges. Returns the exit code.
int bfs_over_ranks(bfs_parameters const& p, bool as_json);

/// Searches the graphs that a plan names, each over the first ranks of all. Every rank calls it,
/// once only, since MPI ends with it. Results are equal on all ranks that took part. Throws if the
/// ranks failed together; they have printed why.
std::vector<rank_search_result> search_over_ranks(rank_search_plan const& plan,
                                                  bfs_parameters const& p);

/// Runs `karpos count`: every rank reads the rows that begin in its part of the file's bytes.
/// Returns the exit code.
int count_over_ranks(count_options const& o);

/// Runs `karpos hash`: keys and queries are those of a run without ranks, divided among the ranks.
/// Returns the exit code.
int hash_over_ranks(hash_parameters const& p, bool as_json);

/// Prints an error that all ranks have, before any of them has initialized MPI. If mpirun started
/// several, the first one alone prints, and none returns before: mpirun ends all ranks with the
/// first that returns.
void print_once(std::function<void()> const& print);

}  // namespace karpos::perf
