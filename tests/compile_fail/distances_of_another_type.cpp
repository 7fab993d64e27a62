// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a view for the distances whose type is not std::int32_t.
#include <karpos/bfs.hpp>

#ifdef KARPOS_GOOD
using distance = std::int32_t;
#else
using distance = std::uint32_t;
#endif

using graph = karpos::csr_graph<>;

karpos::bfs_report search(graph const& g, Kokkos::View<distance*> const& distances) {
  return karpos::bfs(Kokkos::DefaultExecutionSpace{}, g, 0, distances);
}
