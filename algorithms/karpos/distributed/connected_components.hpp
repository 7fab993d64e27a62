// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstddef>
#include <optional>

#include "karpos/components_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/distributed/collective.hpp"
#include "karpos/detail/distributed/components_run.hpp"
#include "karpos/detail/distributed/local_rows.hpp"
#include "karpos/detail/graph/connected_components/run.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"

// Connected components of a graph over ranks.
//
//   auto const graph = distributed::build_csr(ranks, n, sources, targets, {{.symmetrise = true}});
//   distributed::connected_components(ranks, graph, component_ids);  // of this rank's vertices
//
// Each rank links the vertices of its own rows by the union-find of karpos::connected_components,
// and then merges the forests of other ranks into its own
// (detail/distributed/components_run.hpp).

namespace karpos::distributed {

/// Returns the bytes that connected_components works in on this rank. Not collective.
template <execution_space ExecSpace, class Graph>
std::size_t connected_components_bytes(communicator<ExecSpace> const& ranks, Graph const& graph) {
  detail::distributed::components_memory<typename Graph::vertex_type> m{};
  return detail::distributed::lay_out_components<ExecSpace>(graph, ranks.size(), nullptr, m);
}

/// Writes the component id of each of this rank's vertices v, the smallest vertex of the whole
/// graph in v's component, to component_ids(v - first()), in a view of one vertex id for each
/// vertex of the rank. Edges count both ways, as in karpos::connected_components. Collective.
///
/// Returns: a report with the number of components of the whole graph, on every rank. Blocks.
/// Complexity: that of karpos::connected_components for the rank's rows; then log2(ranks) rounds,
///   rounded up. In each round a rank sends and receives a vertex id for each vertex of the whole
///   graph, and makes a pass over what it receives. Twice that if no single component contains most
///   vertices of every rank.
/// Requires: the graph is not written meanwhile.
/// Memory: connected_components_bytes: on several ranks two vertex ids for each vertex of the whole
///   graph; and as in karpos::connected_components.
/// Throws: collective_error on every rank if the graph is not valid (csr_graph::validate) and not
///   trusted; if the component ids are not one for each vertex of the rank, are strided, or overlap
///   the graph; if a workspace is too small, not aligned, or overlaps the component ids or the
///   graph; for more vertices than VertexId can number; if there is not enough memory. Component
///   ids are unchanged then.
/// Source: as karpos::connected_components.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d ComponentIds>
components_report connected_components(communicator<ExecSpace> const& ranks,
                                       csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                                       ComponentIds const& component_ids,
                                       components_options const& options = {}) {
  namespace d = detail::distributed;
  detail::require_reachable<ExecSpace, Kokkos::View<VertexId*, MemorySpace>, ComponentIds>();
  Kokkos::Profiling::ScopedRegion const region("karpos::distributed::connected_components");
  detail::user_call const call("distributed::connected_components");
  std::optional<detail::workspace<ExecSpace>> memory;
  d::run_collectively(ranks, [&] {
    detail::connected_components::require_ids(d::local_rows_of(graph), graph.vertices(),
                                              "vertices of this rank", component_ids,
                                              options.workspace);
    graph.validate_unless_trusted(ranks.exec());
    memory.emplace(ranks.exec(), "connected_components_bytes(ranks, graph)", options.workspace,
                   connected_components_bytes(ranks, graph));
  });
  if (graph.vertices() == 0) return {};
  auto const report = d::run_components(ranks, graph, component_ids, memory->data(), options);
  memory->finish();
  ranks.exec().fence("karpos::distributed::connected_components");
  return report;
}

}  // namespace karpos::distributed
