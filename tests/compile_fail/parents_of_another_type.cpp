// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a view for the parents whose type differs from the graph's vertices.
#include <karpos/bfs.hpp>

#ifdef KARPOS_GOOD
using vertex = std::uint32_t;
#else
using vertex = std::int32_t;
#endif

using graph = karpos::csr_graph<std::uint32_t>;

karpos::bfs_report search(graph const& g, Kokkos::View<std::int32_t*> const& distances,
                          Kokkos::View<vertex*> const& parents) {
  return karpos::bfs(Kokkos::DefaultExecutionSpace{}, g, 0, distances, parents);
}
