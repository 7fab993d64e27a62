// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <chrono>
#include <thread>

#include "perf/tool/distributed/over_ranks.hpp"

namespace karpos::perf {

void print_once(std::function<void()> const& print) {
  if (started_ranks() < 2) return print();
  int started = 0, ended = 0, rank = 0, met = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (ended != 0) return print();
  if (started == 0) MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) print();
  MPI_Request barrier;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  using clock = std::chrono::steady_clock;
  auto const limit = clock::now() + std::chrono::seconds(10);
  while (MPI_Test(&barrier, &met, MPI_STATUS_IGNORE), met == 0) {
    if (clock::now() > limit) {  // the other ranks were called with other words
      if (rank != 0) print();
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (started == 0) MPI_Finalize();
}

}  // namespace karpos::perf
