// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "perf/measure/bfs/parameters.hpp"

// Searches over the first ranks of an MPI program, one after another: scaling in one run.

namespace karpos::perf {

struct rank_search {
  std::string graph;
  int ranks;
};

struct rank_search_result {
  rank_search of;
  bfs_run run;
  std::string obstacle;  ///< why the graph was not searched, on all of its ranks
};

/// Plans the searches, given the number of ranks.
using rank_search_plan = std::function<std::vector<rank_search>(int ranks)>;

/// Returns the number of ranks that mpirun or srun has started, and the one that this process is,
/// as the environment says before MPI is initialised: 1 and 0 without them.
int started_ranks();
int own_rank();

}  // namespace karpos::perf
