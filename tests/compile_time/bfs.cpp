// SPDX-License-Identifier: Apache-2.0
#include <karpos/bfs.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

karpos::bfs_report use_bfs(
    space const& exec,
    karpos::csr_graph<std::uint32_t, std::uint64_t, space::memory_space> const& graph,
    Kokkos::View<std::int32_t*, space> const& distances) {
  return karpos::bfs(exec, graph, 0, distances);
}

}  // namespace karpos_test
