// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/csr_options.hpp"
#include "karpos/detail/graph/build_csr/run.hpp"

// Builds graphs in compressed sparse rows from edges (build_csr), and reverses them (transpose).

namespace karpos {

/// Builds a graph from its edges, sources(i) to targets(i), in any order. By default self loops are
/// removed, and of duplicate edges all but one (csr_options). Neighbours are sorted. The views may
/// be strided, and are only read.
///
/// Returns: a directed graph, or with options.symmetrise an undirected one. The graph is trusted:
///   algorithms do not check its edges again (csr_graph.hpp). Every execution space gives equal
///   results. Blocks.
/// Complexity: on GPUs a sort of 64-bit words, on CPUs a counting sort and a sort of each row.
/// Memory: allocates the graph in the memory space of `sources`. While it builds, also for each
///   directed edge (symmetrise: two for each edge passed): 24 bytes on GPUs; on CPUs one id, if any
///   duplicate is removed. CPUs also take an offset for each vertex.
/// Throws: std::invalid_argument if the views differ in extent, or an id is negative or not below
///   `vertices` (the first such edge is named); std::length_error for 2^32 vertices or more, for
///   more vertices than the largest VertexId, or for more edges than the largest EdgeOffset; edges
///   that will be removed count, and symmetrise doubles them; allocation_error.
template <class EdgeOffset = std::uint64_t, execution_space ExecSpace, view_1d Sources,
          view_1d Targets>
auto build_csr(ExecSpace const& exec, std::uint64_t vertices, Sources const& sources,
               Targets const& targets, csr_options const& options = {}) {
  using vertex = typename Sources::non_const_value_type;
  static_assert(std::is_same_v<vertex, typename Targets::non_const_value_type>,
                "karpos: sources and targets of edges must be of the same type");
  detail::require_reachable<ExecSpace, Sources, Targets>();
  detail::user_call const call("build_csr");
  detail::require_same_extent("sources", sources.extent(0), "targets", targets.extent(0));
  using graph = csr_graph<vertex, EdgeOffset, typename Sources::memory_space>;
  detail::build_csr::edges_in_views<Sources, Targets> const list{sources, targets};
  detail::build_csr::require_graph_fits<graph>(vertices, list.size(), options);
  detail::build_csr::require_in_range(exec, vertices, list);
  return detail::build_csr::csr_of_edges<graph>(exec, vertices, list, options).trusted();
}

/// Reverses every edge of a graph; keeps self loops and duplicates. Neighbours are sorted. To let
/// searches of a directed graph go bottom-up, pass g.with_transpose(transpose(exec, g)).
///
/// Returns: a trusted graph with memory of its own, without a transpose. Blocks.
/// Complexity: as build_csr, and a pass that checks the graph unless it is trusted.
/// Memory: as build_csr, and meanwhile one more id for each edge.
/// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate); std::length_error
///   as build_csr; allocation_error.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace>
auto transpose(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph) {
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  using rows_view = Kokkos::View<VertexId*, MemorySpace>;
  using columns_view = typename graph_type::columns_view;
  detail::require_reachable<ExecSpace, rows_view>();
  detail::user_call const call("transpose");
  graph.validate_unless_trusted(exec);
  auto const rows = detail::build_csr::graph_array<rows_view>(exec, "sources", graph.edges());
  detail::build_csr::write_sources(exec, graph.row_offsets(), rows);
  detail::build_csr::edges_in_views<columns_view, rows_view> const list{graph.column_indices(),
                                                                        rows};
  return detail::build_csr::csr_of_edges<graph_type>(
             exec, graph.vertices(), list, {.remove_self_loops = false, .remove_duplicates = false})
      .trusted();
}

}  // namespace karpos
