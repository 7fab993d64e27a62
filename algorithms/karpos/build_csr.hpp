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

// Builds graphs in compressed sparse rows from edges (build_csr), and reverses them (transpose);
// weights travel with the edges.

namespace karpos {

/// Builds a graph from its edges, sources(i) to targets(i), in any order. By default self loops are
/// removed, and of duplicate edges all but one (csr_options). Neighbours are sorted. Both views
/// have the same element type, which becomes the vertex type of the graph; they may be strided, and
/// are only read.
///
/// Returns: a directed graph, or with options.symmetrise an undirected one. The graph is trusted:
///   algorithms do not check its edges again (csr_graph.hpp). Every execution space gives equal
///   results. Blocks.
/// Complexity: on GPUs a sort of 64-bit words, on CPUs a counting sort and a sort of each row.
/// Memory: allocates the graph in the memory space of `sources`. While it builds, also for each
///   directed edge (symmetrise: two for each edge passed): 24 bytes on GPUs; on CPUs one id, if any
///   duplicate is removed. CPUs also take an offset for each vertex.
/// Throws: std::invalid_argument if the views differ in extent, if an id is negative or not below
///   `vertices` (the first such edge is named), or if options.merge is no enumerator;
///   std::length_error for 2^32 vertices or more, for more vertices than the largest VertexId, or
///   for more edges than the largest EdgeOffset; edges that will be removed count, and symmetrise
///   doubles them; allocation_error.
template <class EdgeOffset = std::uint64_t, execution_space ExecSpace, view_1d Sources,
          view_1d Targets>
auto build_csr(ExecSpace const& exec, std::uint64_t vertices, Sources const& sources,
               Targets const& targets, csr_options const& options = {}) {
  detail::user_call const call("build_csr");
  detail::build_csr::no_weights none;
  return detail::build_csr::csr_of_views<EdgeOffset>(exec, vertices, sources, targets, options,
                                                     none);
}

/// Builds a graph as the function above does, and reorders the weights as it reorders the edges:
/// weights(i) belongs to the edge from sources(i) to targets(i). With symmetrise it
/// belongs to both directions. A weight is a number, or any other trivially copyable type.
///
/// If duplicates are removed, their weights are merged as options.merge says: by default the
/// smallest is kept, as shortest paths need it. If duplicates are kept, they lie in the order of
/// the views. Weights are not checked: sssp refuses negative ones and NaNs.
///
/// Returns: a weighted_csr_graph (csr_graph.hpp). Every execution space gives equal results, also
///   of floating-point sums. Blocks.
/// Complexity: as above; the index of each edge is sorted with it. One thread merges the duplicates
///   of an edge.
/// Memory: as above, the weights, and for each directed edge: on GPUs three offsets; on CPUs a
///   struct of an id and an offset.
/// Throws: as above; std::invalid_argument also if there are not as many weights as edges, or if
///   duplicates are merged by an operation that the type of the weights lacks.
template <class EdgeOffset = std::uint64_t, execution_space ExecSpace, view_1d Sources,
          view_1d Targets, view_1d Weights>
auto build_csr(ExecSpace const& exec, std::uint64_t vertices, Sources const& sources,
               Targets const& targets, Weights const& weights, csr_options const& options = {}) {
  using weight = typename Weights::non_const_value_type;
  detail::require_reachable<ExecSpace, Weights>();
  detail::user_call const call("build_csr");
  detail::require_same_extent("sources", sources.extent(0), "weights", weights.extent(0));
  detail::build_csr::edge_weights<Weights, weight, typename Sources::memory_space> column{
      weights, options.merge};
  column.require_mergeable(options);
  auto const graph = detail::build_csr::csr_of_views<EdgeOffset>(exec, vertices, sources, targets,
                                                                 options, column);
  return weighted_csr_graph<std::decay_t<decltype(graph)>, weight>{graph, column.to};
}

/// Reverses every edge of a graph; keeps self loops and duplicates. Neighbours are sorted. To let
/// searches of a directed graph go bottom-up, pass g.with_transpose(transpose(exec, g)).
///
/// Returns: a trusted, directed graph with memory of its own, without a transpose. Blocks.
/// Complexity: as build_csr, and a pass that checks the graph unless it is trusted.
/// Memory: as build_csr, and meanwhile one more id for each edge.
/// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate); std::length_error
///   as build_csr; allocation_error.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace>
auto transpose(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph) {
  detail::user_call const call("transpose");
  detail::build_csr::no_weights none;
  return detail::build_csr::reverse_graph(exec, graph, none);
}

/// Reverses every edge of a graph together with its weight: weights(e) belongs to the edge
/// column_indices()(e). Duplicates keep their order.
///
/// Returns: a weighted_csr_graph (csr_graph.hpp).
/// Complexity and memory: as transpose and build_csr with weights. Blocks.
/// Throws: as transpose; std::invalid_argument also if there are not as many weights as edges.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d Weights>
auto transpose(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
               Weights const& weights) {
  using weight = typename Weights::non_const_value_type;
  detail::require_reachable<ExecSpace, Weights>();
  detail::user_call const call("transpose");
  detail::require_same_extent("edges of the graph", graph.edges(), "weights", weights.extent(0));
  detail::build_csr::edge_weights<Weights, weight, MemorySpace> column{weights};
  auto const reversed = detail::build_csr::reverse_graph(exec, graph, column);
  return weighted_csr_graph<std::decay_t<decltype(reversed)>, weight>{reversed, column.to};
}

}  // namespace karpos
