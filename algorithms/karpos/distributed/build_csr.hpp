// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/edges.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"
#include "karpos/distributed/csr_options.hpp"

// Builds graphs over ranks from edges stored on any rank; reverses edges of graphs. Weights travel
// with the edges.

namespace karpos::distributed {

/// Builds a graph from the edges of all ranks, sources(i) to targets(i), stored on any rank, in any
/// order. By default self loops are removed, and of duplicate edges all but one. Collective.
///
/// Returns: the rows of this rank's vertices, neighbours sorted. All ranks' rows are the graph that
///   karpos::build_csr makes of all edges, with new numbers if options.permutation is set;
///   undirected with options.symmetrise. Trusted, because its edges were checked.
/// Complexity: a partition and an exchange of the edges, and a build_csr of the received ones.
/// Memory: during the build, four ids for each directed edge that this rank passes, and two for
///   each that it receives; and what karpos::partition and karpos::build_csr take. With symmetrise,
///   an edge passed is two directed edges.
/// Throws: collective_error on every rank if an id is not below `vertices` (the first such edge of
///   the lowest such rank is named), if arguments differ between ranks, if options.begins is not
///   valid, for 2^32 vertices or more, and as karpos::build_csr.
template <class EdgeOffset = std::uint64_t, execution_space ExecSpace, view_1d Sources,
          view_1d Targets>
auto build_csr(communicator<ExecSpace> const& ranks, std::uint64_t vertices, Sources const& sources,
               Targets const& targets, csr_options const& options = {}) {
  detail::user_call const call("distributed::build_csr");
  return detail::distributed::build_from_views<EdgeOffset>(
      ranks, vertices, sources, targets, options, detail::build_csr::no_weights{});
}

/// Builds a graph as the function above does, and sends the weights of the edges with them:
/// weights(i) belongs to this rank's edge from sources(i) to targets(i). Weights of duplicates are
/// merged as karpos::build_csr does; the order of edges is by rank, then by their place in the
/// rank's views. Collective.
///
/// Returns: a weighted_csr_graph; weights(e) belongs to local().column_indices()(e).
/// Memory: as above; each edge that is sent or received also has its weight.
/// Throws: as above; collective_error also as karpos::build_csr with weights.
template <class EdgeOffset = std::uint64_t, execution_space ExecSpace, view_1d Sources,
          view_1d Targets, view_1d Weights>
auto build_csr(communicator<ExecSpace> const& ranks, std::uint64_t vertices, Sources const& sources,
               Targets const& targets, Weights const& weights, csr_options const& options = {}) {
  detail::require_reachable<ExecSpace, Weights>();
  detail::user_call const call("distributed::build_csr");
  return detail::distributed::build_from_views<EdgeOffset>(ranks, vertices, sources, targets,
                                                           options, weights);
}

/// Reverses every edge of a graph; keeps self loops and duplicates, and the blocks. To let searches
/// of a directed graph go bottom-up, pass g.with_transpose(transpose(ranks, g)). Collective.
///
/// Returns: a trusted, directed graph with memory of its own, without a transpose.
/// Complexity and memory: as build_csr.
/// Throws: collective_error on every rank if the graph is not valid (csr_graph::validate) and not
///   trusted, if a rank would have too many edges for EdgeOffset, or if there is not enough memory.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace>
auto transpose(communicator<ExecSpace> const& ranks,
               csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph) {
  detail::user_call const call("distributed::transpose");
  return detail::distributed::reverse_graph(ranks, graph, detail::build_csr::no_weights{});
}

/// Reverses every edge of a graph together with its weight: weights(e) belongs to
/// local().column_indices()(e). Duplicates keep their order. Collective.
///
/// Returns: a weighted_csr_graph.
/// Throws: as transpose; collective_error also if a rank has not as many weights as edges.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d Weights>
auto transpose(communicator<ExecSpace> const& ranks,
               csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph, Weights const& weights) {
  detail::require_reachable<ExecSpace, Weights>();
  detail::user_call const call("distributed::transpose");
  return detail::distributed::reverse_graph(ranks, graph, weights);
}

}  // namespace karpos::distributed
