// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiled/graph.hpp"
#include "karpos/bfs.hpp"
#include "karpos/compiled/bfs.hpp"

namespace karpos::compiled {

template <class VertexId, class EdgeOffset>
struct bfs_workspace<VertexId, EdgeOffset>::searches {
  graph_type graph;  ///< keeps the arrays
  karpos::bfs_workspace<execution_space, graph_of_bits<VertexId, EdgeOffset>> workspace;
};

template <class VertexId, class EdgeOffset>
bfs_workspace<VertexId, EdgeOffset>::bfs_workspace(execution_space const& exec,
                                                   graph_type const& graph)
    : m_searches(new searches{graph, {exec, bits_of(graph)}}) {}

template <class VertexId, class EdgeOffset>
bfs_report bfs_workspace<VertexId, EdgeOffset>::run(execution_space const& exec, VertexId source,
                                                    output<std::int32_t> const& distances,
                                                    output<VertexId> const& parents,
                                                    bfs_options const& options) const {
  return karpos::bfs(exec, m_searches->workspace, bits_of(source), distances, bits_of_view(parents),
                     options);
}

}  // namespace karpos::compiled

/// Compiles searches of graphs with ids of VERTEX bits and offsets of OFFSET bits.
#define KARPOS_INSTANTIATE_BFS(VERTEX, OFFSET)                                                  \
  template class karpos::compiled::bfs_workspace<std::uint##VERTEX##_t, std::uint##OFFSET##_t>; \
  template class karpos::compiled::bfs_workspace<std::int##VERTEX##_t, std::int##OFFSET##_t>;
