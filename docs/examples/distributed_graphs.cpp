// SPDX-License-Identifier: Apache-2.0
/// \file
/// A ring of roads over the ranks of an MPI program: hops, shortest ways and components. Each rank
/// knows some of the roads, in any order. Runs on any number of ranks: mpirun -n 4 …
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/distributed/bfs.hpp>
#include <karpos/distributed/build_csr.hpp>
#include <karpos/distributed/connected_components.hpp>
#include <karpos/distributed/run_ranks.hpp>
#include <karpos/distributed/sssp.hpp>

namespace {

namespace dist = karpos::distributed;
using vertex = std::uint32_t;

/// The roads of this rank: each `ranks`-th of a ring of n towns, road i from town i to the next.
struct make_roads {
  Kokkos::View<vertex*> from, to;
  Kokkos::View<float*> length;
  vertex n, rank, ranks;
  KOKKOS_FUNCTION void operator()(vertex i) const {
    vertex const town = i * ranks + rank;
    from(i) = town;
    to(i) = (town + 1) % n;
    length(i) = 2;
  }
};

int search(MPI_Comm comm) {
  dist::communicator const ranks(comm, Kokkos::DefaultExecutionSpace{});
  auto const size = static_cast<vertex>(ranks.size()), rank = static_cast<vertex>(ranks.rank());
  vertex const n = 100 * size;
  Kokkos::View<vertex*> const from("from", 100), to("to", 100);
  Kokkos::View<float*> const length("length", 100);
  Kokkos::parallel_for(100, make_roads{from, to, length, n, rank, size});

  auto const [graph, weights] = dist::build_csr(ranks, n, from, to, length, {{.symmetrise = true}});
  std::uint64_t const mine = graph.local().vertices();  // this rank has [first(), first() + mine)

  Kokkos::View<std::int32_t*> const hops("hops", mine);
  dist::bfs(dist::bfs_workspace(ranks, graph), 0, hops);
  Kokkos::View<float*> const lengths("lengths", mine);
  dist::sssp(ranks, graph, weights, 0, lengths);
  Kokkos::View<vertex*> const ids("component ids", mine);
  auto const components = dist::connected_components(ranks, graph, ids).components;

  auto const all_hops = graph.gather(ranks, hops);  // of all vertices, on every rank
  auto const all_lengths = graph.gather(ranks, lengths);
  auto const h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, all_hops);
  auto const l = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, all_lengths);
  if (rank == 0)
    std::printf("%u towns on %u ranks, %d component(s); the farthest: %d roads, length %g\n", n,
                size, static_cast<int>(components), static_cast<int>(h(n / 2)),
                static_cast<double>(l(n / 2)));
  return components == 1 && h(n / 2) == static_cast<int>(n / 2) &&
                 l(n / 2) == 2 * static_cast<float>(n / 2)
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    status = dist::run_ranks(MPI_COMM_WORLD, [] { return search(MPI_COMM_WORLD); });
  }
  MPI_Finalize();
  return status;
}
