// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <chrono>
#include <thread>

#include "perf/tool/distributed/over_ranks.hpp"

namespace karpos::perf {

void print_once(std::function<void()> const& print) {
  if (started_ranks() < 2) return print();
  MPI_Init(nullptr, nullptr);
  int rank = 0, met = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) print();
  MPI_Request barrier;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  for (int waited = 0; MPI_Test(&barrier, &met, MPI_STATUS_IGNORE), met == 0; ++waited) {
    if (waited == 1000) {  // the other ranks were called with other words
      if (rank != 0) print();
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  MPI_Finalize();
}

}  // namespace karpos::perf
