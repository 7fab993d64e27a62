// SPDX-License-Identifier: Apache-2.0
#include <karpos/connected_components.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using graph_type = karpos::csr_graph<std::uint32_t, std::uint64_t, space::memory_space>;

karpos::components_report use_connected_components(
    space const& exec, graph_type const& graph,
    Kokkos::View<std::uint32_t*, space> const& component_ids) {
  return karpos::connected_components(exec, graph, component_ids);
}

}  // namespace karpos_test
