// SPDX-License-Identifier: Apache-2.0
/// \file
/// A user of the component `distributed`, on one rank: MPI starts without mpirun.
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <karpos/distributed/communicator.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    status = karpos::distributed::run_ranks(MPI_COMM_WORLD, [] {
      karpos::distributed::communicator const ranks(MPI_COMM_WORLD,
                                                    Kokkos::DefaultExecutionSpace{});
      if (ranks.all_reduce(1) != ranks.size())
        throw std::runtime_error("a sum over ranks is wrong");
    });
  }
  MPI_Finalize();
  return status;
}
