// SPDX-License-Identifier: Apache-2.0
#include <karpos/validate_bfs.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

karpos::bfs_defects use_validate_bfs(
    space const& exec,
    karpos::csr_graph<std::uint32_t, std::uint64_t, space::memory_space> const& graph,
    Kokkos::View<std::int32_t*, space> const& distances, ids const& parents) {
  return karpos::validate_bfs(exec, graph, 0u, distances, parents);
}

}  // namespace karpos_test
