// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_options.hpp"
#include "karpos/detail/distributed/edges.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"
#include "karpos/distributed/vertex_permutation.hpp"

// Builds graphs over ranks from edges stored on any rank; reverses edges of graphs.

namespace karpos::distributed {

/// Options of build_csr: changes to the edges, and which vertices each rank gets.
struct csr_options : karpos::csr_options {
  /// First vertices of the ranks' blocks, and at the end the number of vertices: ranks + 1 numbers,
  /// the same on every rank. They are multiples of 32, unless they are the number of vertices.
  /// Empty: blocks with about equally many edges.
  std::vector<std::uint64_t> begins = {};
  /// The seed of a vertex_permutation by which vertices are numbered, the same on every rank: for
  /// graphs that are skewed, or listed in an order that would give some ranks all the work. The
  /// graph, its blocks, and arguments and results of searches have the new numbers.
  std::optional<std::uint64_t> permutation = {};

  /// Returns the permutation p of vertex ids: p(v) is the number in the graph of vertex v of the
  /// edges passed, and p.inverse(number) is v. The identity if `permutation` is not set.
  vertex_permutation numbers(std::uint64_t vertices) const {
    return permutation ? vertex_permutation(vertices, *permutation) : vertex_permutation();
  }
};

/// Builds a graph from the edges of all ranks, sources(i) to targets(i), stored on any rank, in any
/// order. By default self loops are removed, and of duplicate edges all but one. Collective.
///
/// Returns: the rows of this rank's vertices, neighbours sorted. All ranks' rows are the graph that
///   karpos::build_csr makes of all edges, with new numbers if options.permutation is set. Trusted,
///   because its edges were checked.
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
  using vertex = typename Sources::non_const_value_type;
  static_assert(std::is_same_v<vertex, typename Targets::non_const_value_type>,
                "karpos: sources and targets of edges must be of the same type");
  detail::require_reachable<ExecSpace, Sources, Targets>();
  using graph = csr_graph<vertex, EdgeOffset, typename ExecSpace::memory_space>;
  using edges_list = detail::build_csr::edges_in_views<Sources, Targets>;
  edges_list const list{sources, targets};
  detail::user_call const call("distributed::build_csr");
  require_same(ranks, "the number of vertices", vertices);
  require_same(ranks, "csr_options::symmetrise", options.symmetrise);
  require_same(ranks, "csr_options::remove_self_loops", options.remove_self_loops);
  require_same(ranks, "csr_options::remove_duplicates", options.remove_duplicates);
  require_same(ranks, "whether csr_options::permutation is set", options.permutation.has_value());
  require_same(ranks, "the seed of a permutation of vertices", options.permutation.value_or(0));
  std::uint64_t hash = options.begins.size();
  for (std::uint64_t const b : options.begins) hash = mix(hash + b);
  require_same(ranks, "the hash of the begins of blocks", hash);
  detail::distributed::run_collectively(ranks, [&] {
    detail::require_same_extent("sources", sources.extent(0), "targets", targets.extent(0));
    detail::build_csr::require_graph_fits<typename graph::local_type>(vertices, list.size(),
                                                                      options);
    detail::build_csr::require_in_range(ranks.exec(), vertices, list);
    detail::distributed::require_begins(options.begins, vertices, ranks.size());
  });
  detail::build_csr::renumbered_edges<edges_list, vertex_permutation> const numbered{
      list, options.numbers(vertices)};
  return detail::distributed::build_from_list<vertex, EdgeOffset>(ranks, vertices, numbered,
                                                                  options, options.begins)
      .trusted();
}

/// Reverses every edge of a graph; keeps self loops and duplicates, and the blocks. To let searches
/// of a directed graph go bottom-up, pass g.with_transpose(transpose(ranks, g)). Collective.
///
/// Returns: a graph with memory of its own, without a transpose; trusted.
/// Complexity and memory: as build_csr.
/// Throws: collective_error on every rank if the graph is not valid (csr_graph::validate) and not
///   trusted, or if there is not enough memory.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace>
auto transpose(communicator<ExecSpace> const& ranks,
               csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph) {
  namespace d = detail::distributed;
  using row = d::edge_row<VertexId>;
  detail::user_call const call("distributed::transpose");
  auto const& local = graph.local();
  auto const rows = d::run_collectively(ranks, [&] {
    graph.validate_unless_trusted(ranks.exec());
    auto const sources =
        d::allocate<VertexId>(ranks.exec(), "karpos::transpose: sources", local.edges());
    detail::build_csr::write_sources(ranks.exec(), local.row_offsets(), sources);
    auto const reversed = d::allocate<row>(ranks.exec(), "karpos::transpose: edges", local.edges());
    device::loop_over("karpos::transpose: reverse", ranks.exec(), local.edges(),
                      d::reverse_edges<row, VertexId>{local.column_indices().data(), sources.data(),
                                                      graph.first(), reversed.data()});
    ranks.exec().fence("karpos::transpose: before its sources are freed");
    return reversed;
  });
  return d::build_from_rows<EdgeOffset>(ranks, rows, graph.begins(), false).trusted();
}

}  // namespace karpos::distributed
