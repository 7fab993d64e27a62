// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiled/graph.hpp"
#include "karpos/compiled/sssp.hpp"
#include "karpos/sssp.hpp"

namespace karpos::compiled {

template <class VertexId, class EdgeOffset, class Weight>
struct sssp_workspace<VertexId, EdgeOffset, Weight>::searches {
  graph_type graph;  ///< keeps the arrays
  karpos::sssp_workspace<execution_space, graph_of_bits<VertexId, EdgeOffset>, Weight> workspace;
};

template <class VertexId, class EdgeOffset, class Weight>
sssp_workspace<VertexId, EdgeOffset, Weight>::sssp_workspace(execution_space const& exec,
                                                             graph_type const& graph,
                                                             input<Weight> const& weights)
    : m_searches(new searches{graph, {exec, bits_of(graph), weights}}) {}

template <class VertexId, class EdgeOffset, class Weight>
sssp_report sssp_workspace<VertexId, EdgeOffset, Weight>::run(execution_space const& exec,
                                                              VertexId source,
                                                              output<Weight> const& distances,
                                                              output<VertexId> const& parents,
                                                              sssp_options const& options) const {
  return karpos::sssp(exec, m_searches->workspace, bits_of(source), distances,
                      bits_of_view(parents), options);
}

}  // namespace karpos::compiled

#define KARPOS_INSTANTIATE_PATHS(VertexId, EdgeOffset)                          \
  template class karpos::compiled::sssp_workspace<VertexId, EdgeOffset, float>; \
  template class karpos::compiled::sssp_workspace<VertexId, EdgeOffset, double>;
/// Compiles shortest paths in graphs with ids of VERTEX bits and offsets of OFFSET bits.
#define KARPOS_INSTANTIATE_SSSP(VERTEX, OFFSET)                          \
  KARPOS_INSTANTIATE_PATHS(std::uint##VERTEX##_t, std::uint##OFFSET##_t) \
  KARPOS_INSTANTIATE_PATHS(std::int##VERTEX##_t, std::int##OFFSET##_t)
