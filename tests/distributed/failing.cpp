// SPDX-License-Identifier: Apache-2.0
/// \file
/// A program in which one rank fails, in the way that its argument names, while the others wait for
/// it. The test expects that all ranks end in time, with one message.
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "tests/distributed/ranks.hpp"

namespace {

/// Lets all ranks but the first agree on an error, while the first waits for them.
void fail_on_some(karpos_test::communicator const& all) {
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(all.mpi(), all.rank() == 0 ? 0 : 1, all.rank(), &some);
  karpos_test::communicator const ranks(some);
  if (all.rank() != 0) karpos::distributed::require_same(ranks, "the load", all.rank());
}

void fail(std::string const& how) {
  auto const ranks = karpos_test::world();
  if (how == "unequal_on_some") fail_on_some(ranks);
  bool const last = ranks.rank() == ranks.size() - 1;
  if (how == "throws" && last) throw std::runtime_error("the last rank has had enough");
  if (how == "no_exception" && last) throw 5;
  if (how == "unequal") karpos::distributed::require_same(ranks, "the load", last ? 0.9 : 0.8);
  ranks.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    std::string const how = argc > 1 ? argv[1] : "";
    code = karpos::distributed::run_ranks(MPI_COMM_WORLD, [&] { fail(how); });
  }
  MPI_Finalize();
  return code;
}
