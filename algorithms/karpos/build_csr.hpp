// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/csr_options.hpp"
#include "karpos/detail/build_csr/counting.hpp"
#include "karpos/detail/build_csr/edge_list.hpp"
#include "karpos/detail/build_csr/sorting.hpp"

namespace karpos {

namespace detail::build_csr {

/// CPUs count and GPUs sort: each would be several times slower at the other's way.
template <class ExecSpace>
inline constexpr bool sorts_edges =
    !std::is_same_v<typename ExecSpace::memory_space, Kokkos::HostSpace>;

/// The graph of an edge list whose ids are all below `vertices`.
template <class Graph, class ExecSpace, class List>
Graph csr_of_edges(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                   csr_options const& options) {
  require_graph_fits<Graph>(vertices, list.size(), options);
  Graph graph;
  if constexpr (sorts_edges<ExecSpace>)
    graph = csr_by_sorting<Graph>(exec, vertices, list, options);
  else
    graph = csr_by_counting<Graph>(exec, vertices, list, options);
  return options.symmetrise ? graph.undirected() : graph;
}

/// The first edge that names a vertex that there is not.
template <class List>
struct find_stray_edge {
  List list;
  std::uint64_t vertices;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    edge const e = list(i);
    if ((e.source >= vertices || e.target >= vertices) && i < first) first = i;
  }
};

template <class ExecSpace, class Sources, class Targets>
void require_vertices(ExecSpace const& exec, std::uint64_t vertices,
                      edges_in_views<Sources, Targets> const& list) {
  using stray = find_stray_edge<edges_in_views<Sources, Targets>>;
  std::uint64_t const none = ~std::uint64_t(0);
  std::uint64_t first = none;
  Kokkos::parallel_reduce("karpos::build_csr: check", index_range(exec, list.size()),
                          stray{list, vertices}, Kokkos::Min<std::uint64_t>(first));
  if (first == none || list.size() == 0) return;
  typename Sources::non_const_value_type source{}, target{};
  Kokkos::deep_copy(exec, source, Kokkos::subview(list.sources, first));
  Kokkos::deep_copy(exec, target, Kokkos::subview(list.targets, first));
  exec.fence("karpos::build_csr: the stray edge");
  reject("edge " + std::to_string(first) + " names a vertex that does not exist",
         std::to_string(source) + " to " + std::to_string(target) + " among " +
             std::to_string(vertices) + " vertices",
         "ids are 0 to one less than the number of vertices");
}

/// Writes the row of every edge beside it. A thread looks one edge up and walks on from there.
template <int Block, class Offsets, class Rows>
struct expand_rows {
  Offsets offsets;
  Rows rows;

  KOKKOS_FUNCTION void operator()(std::uint64_t block) const {
    std::uint64_t e = block * Block;
    std::uint64_t const end = e + Block < rows.extent(0) ? e + Block : rows.extent(0);
    std::uint64_t low = 0, high = offsets.extent(0) - 1;  // offsets(low) <= e < offsets(high)
    while (high - low > 1) {
      std::uint64_t const middle = (low + high) / 2;
      (static_cast<std::uint64_t>(offsets(middle)) <= e ? low : high) = middle;
    }
    for (; e < end; ++e) {
      while (static_cast<std::uint64_t>(offsets(low + 1)) <= e) ++low;
      rows(e) = static_cast<typename Rows::value_type>(low);
    }
  }
};

}  // namespace detail::build_csr

/// Builds a graph from its edges, sources(i) to targets(i), in any order. Neighbours are sorted.
/// Throws: std::invalid_argument when the views differ in extent or an id is not below `vertices` (the first
/// such edge is named); std::length_error for 2^32 vertices or more, for more vertices than VertexId or more
/// edges, before any is removed, than EdgeOffset holds; allocation_error.
/// Returns: a directed graph, or with options.symmetrise an undirected one. The same on every execution space.
/// Complexity: a sort of 64-bit words on GPUs, a counting sort and a sort of each row on CPUs. Waits for it.
/// Memory: new, in the space of the views. Meanwhile on GPUs 24 bytes, on CPUs one id for each directed edge.
template <class EdgeOffset = std::uint64_t, execution_space ExecSpace, view_1d Sources,
          view_1d Targets>
auto build_csr(ExecSpace const& exec, std::uint64_t vertices, Sources const& sources,
               Targets const& targets, csr_options const& options = {}) {
  using vertex = typename Sources::non_const_value_type;
  static_assert(std::is_same_v<vertex, typename Targets::non_const_value_type>,
                "karpos: sources and targets of edges must be of the same type");
  detail::require_reachable<ExecSpace, Sources, Targets>();
  detail::require_same_extent("sources", sources.extent(0), "targets", targets.extent(0));
  using graph = csr_graph<vertex, EdgeOffset, typename Sources::memory_space>;
  detail::build_csr::edges_in_views<Sources, Targets> const list{sources, targets};
  detail::build_csr::require_graph_fits<graph>(vertices, list.size(), options);
  detail::build_csr::require_vertices(exec, vertices, list);
  return detail::build_csr::csr_of_edges<graph>(exec, vertices, list, options);
}

/// The graph with every edge the other way round, self loops and duplicates included; neighbours are sorted.
/// g.with_transpose(transpose(exec, g)) is what searches of a directed graph want.
/// Returns: a graph of its own, without a transpose.
/// Complexity: as build_csr. Waits for it.
/// Requires: a graph that is valid.
/// Memory: as build_csr, and meanwhile one more id for each edge.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace>
auto transpose(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph) {
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  using rows_view = Kokkos::View<VertexId*, MemorySpace>;
  using columns_view = typename graph_type::columns_view;
  detail::require_reachable<ExecSpace, rows_view>();
  auto const rows = detail::build_csr::graph_array<rows_view>(exec, "sources", graph.edges());
  // Neighbouring threads of a GPU write neighbouring words.
  constexpr int block = detail::build_csr::sorts_edges<ExecSpace> ? 1 : 1024;
  using expand =
      detail::build_csr::expand_rows<block, typename graph_type::offsets_view, rows_view>;
  Kokkos::parallel_for("karpos::transpose: sources",
                       detail::index_range(exec, (graph.edges() + block - 1) / block),
                       expand{graph.row_offsets(), rows});
  detail::build_csr::edges_in_views<columns_view, rows_view> const list{graph.column_indices(),
                                                                        rows};
  return detail::build_csr::csr_of_edges<graph_type>(
      exec, graph.vertices(), list, {.remove_self_loops = false, .remove_duplicates = false});
}

}  // namespace karpos
