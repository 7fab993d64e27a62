// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bfs/rank_searches.hpp"

#include <cstdlib>
#include <initializer_list>

namespace karpos::perf {
namespace {

/// Returns the first of these variables that is a number, or another one.
int environment_number(std::initializer_list<char const*> names, int otherwise) {
  for (char const* name : names)
    if (char const* const value = std::getenv(name); value != nullptr && *value != '\0')
      return std::atoi(value);
  return otherwise;
}

}  // namespace

int started_ranks() {
  // SLURM_NTASKS is also set in a script that starts one process; the number of a step is not.
  return environment_number(
      {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS"}, 1);
}
int own_rank() {
  return environment_number(
      {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MPI_LOCALRANKID", "SLURM_PROCID"}, 0);
}

}  // namespace karpos::perf
