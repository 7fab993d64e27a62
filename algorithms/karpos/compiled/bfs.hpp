// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/compiled/types.hpp"
#include "karpos/csr_graph.hpp"

// Compiled calls: karpos/compiled.hpp.

namespace karpos::compiled {

/// Memory of breadth-first searches (bfs_workspace.hpp). Copies share it.
template <class VertexId, class EdgeOffset>
class bfs_workspace {
 public:
  using graph_type = csr_graph<VertexId, EdgeOffset, memory_space>;
  bfs_workspace(execution_space const& exec, graph_type const& graph);
  /// Does what compiled::bfs does.
  bfs_report run(execution_space const& exec, VertexId source,
                 output<std::int32_t> const& distances, output<VertexId> const& parents,
                 bfs_options const& options) const;

 private:
  static_assert((detail::require_graph<VertexId, EdgeOffset>(), true));
  struct searches;
  std::shared_ptr<searches> m_searches;
};

/// Searches a graph breadth-first from one vertex (bfs.hpp).
template <class VertexId, class EdgeOffset>
bfs_report bfs(execution_space const& exec, bfs_workspace<VertexId, EdgeOffset> const& workspace,
               std::type_identity_t<VertexId> source, output<std::int32_t> const& distances,
               std::type_identity_t<output<VertexId>> const& parents = {},
               bfs_options const& options = {}) {
  return workspace.run(exec, source, distances, parents, options);
}
template <class VertexId, class EdgeOffset>
bfs_report bfs(execution_space const& exec,
               csr_graph<VertexId, EdgeOffset, memory_space> const& graph,
               std::type_identity_t<VertexId> source, output<std::int32_t> const& distances,
               std::type_identity_t<output<VertexId>> const& parents = {},
               bfs_options const& options = {}) {
  return bfs_workspace<VertexId, EdgeOffset>(exec, graph)
      .run(exec, source, distances, parents, options);
}

}  // namespace karpos::compiled
