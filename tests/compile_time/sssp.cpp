// SPDX-License-Identifier: Apache-2.0
#include <karpos/sssp.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using graph_type = karpos::csr_graph<std::uint32_t, std::uint64_t, space::memory_space>;

karpos::sssp_report use_sssp(space const& exec, graph_type const& graph,
                             Kokkos::View<float*, space> const& weights,
                             Kokkos::View<float*, space> const& distances) {
  return karpos::sssp(exec, graph, weights, 0, distances);
}

}  // namespace karpos_test
