// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "karpos/compiled/types.hpp"
#include "karpos/concepts.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/sssp_options.hpp"

// Compiled calls: karpos/compiled.hpp.

namespace karpos::compiled {

/// Memory of shortest paths (sssp_workspace.hpp), by weights of float or double. Copies share it.
template <class VertexId, class EdgeOffset, class Weight>
class sssp_workspace {
 public:
  using graph_type = csr_graph<VertexId, EdgeOffset, memory_space>;
  sssp_workspace(execution_space const& exec, graph_type const& graph,
                 input<Weight> const& weights);
  /// Does what compiled::sssp does.
  sssp_report run(execution_space const& exec, VertexId source, output<Weight> const& distances,
                  output<VertexId> const& parents, sssp_options const& options) const;

 private:
  static_assert((detail::require_graph<VertexId, EdgeOffset>(), true));
  static_assert(std::is_floating_point_v<Weight>,
                "karpos: compiled shortest paths take weights of float or double: for others "
                "include karpos/sssp.hpp");
  struct searches;
  std::shared_ptr<searches> m_searches;
};

/// Finds shortest paths from one vertex (sssp.hpp).
template <class VertexId, class EdgeOffset, class Weight>
sssp_report sssp(execution_space const& exec,
                 sssp_workspace<VertexId, EdgeOffset, Weight> const& workspace,
                 std::type_identity_t<VertexId> source,
                 std::type_identity_t<output<Weight>> const& distances,
                 std::type_identity_t<output<VertexId>> const& parents = {},
                 sssp_options const& options = {}) {
  return workspace.run(exec, source, distances, parents, options);
}
template <class VertexId, class EdgeOffset, view_1d Weights, view_1d Distances>
sssp_report sssp(execution_space const& exec,
                 csr_graph<VertexId, EdgeOffset, memory_space> const& graph, Weights const& weights,
                 std::type_identity_t<VertexId> source, Distances const& distances,
                 std::type_identity_t<output<VertexId>> const& parents = {},
                 sssp_options const& options = {}) {
  using weight = typename Weights::non_const_value_type;
  return sssp_workspace<VertexId, EdgeOffset, weight>(exec, graph, weights)
      .run(exec, source, distances, parents, options);
}

}  // namespace karpos::compiled
