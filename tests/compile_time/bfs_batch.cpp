// SPDX-License-Identifier: Apache-2.0
#include <karpos/bfs_batch.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using graph_type = karpos::csr_graph<std::uint32_t, std::uint64_t, space::memory_space>;

karpos::bfs_batch_report use_bfs_batch(space const& exec, graph_type const& graph,
                                       Kokkos::View<std::uint32_t*, space> const& sources,
                                       Kokkos::View<std::int32_t**, space> const& distances) {
  return karpos::bfs_batch(exec, karpos::bfs_batch_workspace(exec, graph), sources, distances);
}

}  // namespace karpos_test
