// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstddef>

#include "karpos/components_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/graph/connected_components/run.hpp"

// Connected components of a graph, by union-find: an edge links two trees, and a sample of vertices
// shows which edges can be skipped.
//
//   connected_components(exec, graph, component_ids)
//       component_ids(v) becomes the smallest vertex of v's component
//   connected_components_bytes(exec, graph)
//       the memory that it works in
//
// Options and report: components_options.hpp.
//
// The component ids are a forest of disjoint sets: an edge links two trees by hooking the root with
// the larger number onto the other root. A few edges of each vertex link most of a graph into one
// component. The most frequent id among a sample of vertices marks that giant component, and its
// vertices skip their other edges: an edge to a vertex outside is inspected from the outside. The
// kernels are in detail/graph/connected_components/steps.hpp, docs/connected_components.md has a
// picture.
//
// Why component ids are exact: edges link only what they connect, so a tree is never larger than a
// component. An edge is skipped only if both ends are in the sampled tree: otherwise it is
// inspected from the end outside. And a root is the smallest vertex of its tree.
//
// Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
//   sampling", IPDPS 2018; Jaiganesh, Burtscher, "A high-performance connected components
//   implementation for GPUs", HPDC 2018.

namespace karpos {

/// Returns the bytes that connected_components works in for this graph, without the component ids.
template <execution_space ExecSpace, class Graph>
std::size_t connected_components_bytes(ExecSpace const& /*exec*/, Graph const& graph) {
  return detail::connected_components::bytes_for<ExecSpace>(graph);
}

/// Writes the component id of each vertex v, the smallest vertex of its component, to
/// component_ids(v), in a view of n vertex ids. In a directed graph edges count both ways: the
/// components are the weakly connected ones. A directed graph with its transpose is faster, because
/// without it no edge can be skipped.
///
/// Returns: a report with the number of components. Blocks.
/// Complexity: a pass over offsets and columns that checks the graph, unless it is trusted; a pass
///   over the vertices, and over the edges of those that are not in the sampled component;
///   O(vertices + edges) in practice.
/// Requires: the graph is not written meanwhile.
/// Concurrency: works on `exec`. A workspace serves one call at a time.
/// Memory: connected_components_bytes: some KB, and a vertex id for each 4,096 edges, or two if the
///   graph has a transpose with arrays of its own.
/// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate); if the component
///   ids are not as many as the vertices, are strided, or overlap the graph; if the workspace is
///   too small, not aligned, or overlaps the component ids or the graph; std::length_error for more
///   vertices than VertexId can number; allocation_error. Component ids are unchanged then.
/// Source: see the top of this file.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d ComponentIds>
components_report connected_components(ExecSpace const& exec,
                                       csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                                       ComponentIds const& component_ids,
                                       components_options const& options = {}) {
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  detail::require_reachable<ExecSpace, typename graph_type::offsets_view, ComponentIds>();
  detail::user_call const call("connected_components");
  detail::connected_components::require_ids(graph, graph.vertices(), "vertices", component_ids,
                                            options.workspace);
  graph.validate_unless_trusted(exec);
  if (graph.vertices() == 0) return {};
  Kokkos::Profiling::ScopedRegion const region("karpos::connected_components");
  detail::workspace<ExecSpace> const memory(
      exec, "connected_components_bytes(exec, graph)", options.workspace,
      detail::connected_components::bytes_for<ExecSpace>(graph));
  auto const report =
      detail::connected_components::run(exec, graph, component_ids.data(), memory.data(), options);
  memory.finish();
  return report;
}

}  // namespace karpos
