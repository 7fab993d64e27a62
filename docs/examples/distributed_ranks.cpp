// SPDX-License-Identifier: Apache-2.0
/// \file
/// An application with an MPI communicator of its own. Each rank knows some particles by their
/// cells, and computes how many particles, on all ranks, share the cell of each. Runs on any
/// number of ranks: mpirun -n 4 …
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/distributed/hash_map.hpp>

namespace {

struct make_cells {  // 1,000 particles on each rank, 100 cells in total
  Kokkos::View<std::uint32_t*> cells;
  std::uint32_t rank;
  KOKKOS_FUNCTION void operator()(std::uint32_t i) const { cells(i) = (i * 7 + rank) % 100; }
};

int count_neighbours(MPI_Comm comm) {
  karpos::distributed::communicator const ranks(comm, Kokkos::DefaultExecutionSpace{});
  Kokkos::View<std::uint32_t*> const cells("cells", 1000), ones("ones", 1000),
      in_cell("in_cell", 1000);
  Kokkos::parallel_for(1000, make_cells{cells, static_cast<std::uint32_t>(ranks.rank())});
  Kokkos::deep_copy(ones, 1);

  karpos::distributed::hash_map<std::uint32_t, std::uint32_t> map(ranks, 100);
  // Sends each cell to the rank that owns it, which counts.
  auto const stored = map.insert_or_apply(cells, ones, karpos::plus{});
  if (stored.rejected > 0) return 1;  // more cells than the map has slots for
  // Receives the counts in the order of this rank's particles.
  map.find(cells, in_cell, 0u);

  auto const mine = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, in_cell);
  std::uint64_t const cell_count = map.size();  // collective: every rank calls it
  if (ranks.rank() == 0)
    std::printf("%d ranks, %d cells, %d particles in the first one's cell\n", ranks.size(),
                static_cast<int>(cell_count), static_cast<int>(mine(0)));
  return mine(0) == 10u * static_cast<unsigned>(ranks.size()) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm application = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &application);
  int status = 1;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    status =
        karpos::distributed::run_ranks(application, [&] { return count_neighbours(application); });
  }
  MPI_Comm_free(&application);
  MPI_Finalize();
  return status;
}
