// SPDX-License-Identifier: Apache-2.0
/// \file
/// The main function of the tests with several ranks: doctest inside MPI and Kokkos. All ranks run
/// the same cases in the same order. A rank that fails ends all of them, as the others would wait
/// for it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <mpi.h>

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    doctest::Context context(argc, argv);
    context.setOption("abort-after", 1);
    context.setOption("minimal", rank != 0);  // the other ranks print only failures
    failed = context.run();
    if (failed != 0) MPI_Abort(MPI_COMM_WORLD, failed);
  }
  MPI_Finalize();
  return failed;
}
