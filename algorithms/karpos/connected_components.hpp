// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/csr_graph.hpp"
#include "karpos/detail/arrays.hpp"
#include "karpos/detail/connected_components/steps.hpp"
#include "karpos/detail/workspace.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/table_options.hpp"

// Connected components of a graph, by hooking with samples.
//
//   connected_components(exec, graph, labels)    labels(v): the smallest vertex of v's component
//   connected_components_bytes(exec, graph)      the memory that it works in
//
// The component ids (labels) are a forest of disjoint sets
// (detail/connected_components/forest.hpp): an edge joins two trees by hooking the root with the
// larger number onto the other root. A few edges of each vertex join most of a graph into one
// component. The commonest id among a sample of vertices marks that giant component, and its
// vertices skip their other edges: an edge to a vertex outside is inspected from the outside. The
// kernels are in detail/connected_components/steps.hpp, docs/connected_components.md has a picture.
//
// Why component ids are exact: edges join only what they connect, so a tree is never larger than a
// component. An edge is skipped only if both ends are in the sampled tree: otherwise it is
// inspected from the end outside. And a root is the smallest vertex of its tree.
//
// Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
//   sampling", IPDPS 2018; Jaiganesh, Burtscher, "A high-performance connected components
//   implementation for GPUs", HPDC 2018.

namespace karpos {

/// Options of connected_components. Results do not depend on them.
struct components_options {
  /// Neighbours of each vertex that are joined before the sample is taken. 0: no sample, every edge
  /// is inspected.
  std::uint32_t sampled_neighbours = 2;
  /// Memory that the caller owns: connected_components_bytes, aligned to 64 bytes; null: allocated,
  /// and freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

/// Result of connected_components, without the component ids.
struct components_report {
  std::uint64_t components = 0;  ///< number of components; isolated vertices are components, too
};

namespace detail::connected_components {

template <execution_space ExecSpace, class Graph>
class run {
 public:
  using vertex_id = typename Graph::vertex_type;
  using state_type = state<ExecSpace, vertex_id, typename Graph::offset_type>;
  using tuned = tuning<ExecSpace>;

  static std::size_t bytes_for(Graph const& graph) {
    state_type s = empty(nullptr);
    return lay_out(graph, nullptr, s);
  }

  run(ExecSpace const& exec, Graph const& graph, vertex_id* labels, std::byte* memory,
      components_options const& options)
      : m_exec(exec),
        m_state(empty(labels)) {
    bool const knows_in = graph.has_transpose();
    m_state.vertices = graph.vertices();
    m_state.first = options.sampled_neighbours;
    m_state.out = {graph.row_offsets().data(), graph.column_indices().data()};
    m_state.in = {graph.in_row_offsets().data(), graph.in_column_indices().data()};
    m_state.has_in = knows_in && !graph.is_undirected();
    m_state.skips = knows_in && m_state.first > 0;
    lay_out(graph, memory, m_state);
  }

  components_report operator()() const {
    using s = state_type;
    each_vertex("karpos::connected_components::start", start<s>{m_state});
    join_sampled();
    device::loop_over("karpos::connected_components::take_samples", m_exec, tuned::samples,
                      take_samples<s>{m_state});
    device::loop_over("karpos::connected_components::find_frequent", m_exec,
                      m_state.skips ? tuned::samples : 0, find_frequent<s>{m_state});
    if constexpr (device::is_device<ExecSpace>)
      each_tile("karpos::connected_components::join_rest", join_rest<s>{m_state});
    else
      each_vertex("karpos::connected_components::join_rest", join_rest<s>{m_state});
    std::uint64_t const tiles =
        static_cast<std::uint64_t>(device::processors(m_exec)) * tuned::tiles_of_processor;
    device::for_each_tile<tuned::width>("karpos::connected_components::join_long", m_exec, tiles,
                                        join_long<s>{m_state, tiles});
    return {device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::connected_components::count", m_exec, m_state.vertices, compress<s>{m_state})};
  }

 private:
  /// Joins the trees of each vertex and of its first neighbours; then every vertex points to its
  /// root.
  void join_sampled() const {
    using s = state_type;
    compress<s> const to_roots{m_state};
    if (device::is_device<ExecSpace> || m_state.first == 0)
      each_vertex("karpos::connected_components::compress", to_roots);
    if (m_state.first == 0) return;
    if constexpr (device::is_device<ExecSpace>) {
      each_tile("karpos::connected_components::join_first", join_first<s>{m_state});
    } else {
      device::loop_in_turns("karpos::connected_components::join_first", m_exec, tiles(),
                            join_first_alone<s>{{m_state}}, tuned::tiles_of_turn);
    }
    each_vertex("karpos::connected_components::compress", to_roots);
  }
  static state_type empty(vertex_id* labels) {
    return {
        0,       0,       {},      {},     false, false, typename state_type::forest_type(labels),
        nullptr, nullptr, nullptr, nullptr};
  }
  /// Places the arrays in memory. Returns: the bytes that they take.
  static std::size_t lay_out(Graph const& graph, std::byte* memory, state_type& s) {
    arena a(memory);
    std::uint64_t const both = graph.has_transpose() && !graph.is_undirected() ? 2 : 1;
    a.take(s.sample, tuned::samples);
    a.take(s.frequent, 1);
    a.take(s.long_rows, 1);
    a.take(s.long_row, both * graph.edges() / tuned::grid_row);
    return a.bytes();
  }
  template <class Body>
  void each_vertex(char const* label, Body const& body) const {
    device::loop_in_turns(label, m_exec, m_state.vertices, body);
  }
  std::uint64_t tiles() const { return (m_state.vertices + tuned::width - 1) / tuned::width; }
  template <class Body>
  void each_tile(char const* label, Body const& body) const {
    device::for_each_tile<tuned::width>(label, m_exec, tiles(), body);
  }

  ExecSpace m_exec;
  state_type m_state;
};

}  // namespace detail::connected_components

/// Returns the bytes that connected_components works in for this graph, without the labels.
template <execution_space ExecSpace, class Graph>
std::size_t connected_components_bytes(ExecSpace const& /*exec*/, Graph const& graph) {
  return detail::connected_components::run<ExecSpace, Graph>::bytes_for(graph);
}

/// Writes the component id of each vertex v, the smallest vertex of its component, to labels(v): n
/// vertex ids. In a directed graph edges count both ways: it has weakly connected components. A
/// directed graph with its transpose is faster, because without it no edge can be skipped.
///
/// Returns: the number of components. Blocks.
/// Complexity: a pass over offsets and columns that checks the graph, unless it is trusted; a pass
///   over the vertices, and over the edges of those that are not in the sampled component;
///   O(vertices + edges) in practice.
/// Requires: the graph is not written meanwhile.
/// Concurrency: works on `exec`. A workspace serves one call at a time.
/// Memory: connected_components_bytes: some KB, and a vertex id for each 4,096 edges.
/// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate); if labels have
///   another length, are strided, or overlap the graph; if the workspace is too small, not aligned,
///   or overlaps the labels; std::length_error for more vertices than VertexId can number;
///   allocation_error.
/// Source: see the top of this file.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d Labels>
components_report connected_components(ExecSpace const& exec,
                                       csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                                       Labels const& labels,
                                       components_options const& options = {}) {
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  static_assert(std::is_same_v<typename Labels::value_type, VertexId>,
                "karpos: labels of components come in a view of the graph's vertex type");
  detail::require_reachable<ExecSpace, typename graph_type::offsets_view, Labels>();
  detail::require_contiguous("labels of components", labels);
  detail::require_same_extent("labels", labels.extent(0), "vertices", graph.vertices());
  constexpr std::uint64_t most = std::numeric_limits<VertexId>::max();
  if (graph.vertices() > 0 && graph.vertices() - 1 > most)
    throw std::length_error(
        "karpos: a graph for connected_components has " + std::to_string(graph.vertices()) +
        " vertices, and its vertex ids end at " + std::to_string(most) + ": use wider ids");
  detail::require_apart("the labels of components", labels, detail::range_of(options.workspace),
                        graph.row_offsets(), graph.column_indices(), graph.in_row_offsets(),
                        graph.in_column_indices());
  graph.validate_unless_trusted(exec);
  if (graph.vertices() == 0) return {};
  using run = detail::connected_components::run<ExecSpace, graph_type>;
  Kokkos::Profiling::ScopedRegion const region("karpos::connected_components");
  detail::workspace<ExecSpace> const memory(
      exec, {"connected_components", "connected_components_bytes(exec, graph)"}, options.workspace,
      run::bytes_for(graph));
  auto const report = run(exec, graph, labels.data(), memory.data(), options)();
  memory.finish();
  return report;
}

}  // namespace karpos
