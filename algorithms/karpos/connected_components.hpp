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
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/graph/connected_components/steps.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/table_options.hpp"

// Connected components of a graph, by union-find: an edge links two trees, and a sample of vertices
// shows which edges can be skipped.
//
//   connected_components(exec, graph, component_ids)
//       component_ids(v) becomes the smallest vertex of v's component
//   connected_components_bytes(exec, graph)
//       the memory that it works in
//
// The component ids are a forest of disjoint sets (detail/graph/connected_components/forest.hpp):
// an edge links two trees by hooking the root with the larger number onto the other root. A few
// edges of each vertex link most of a graph into one component. The most frequent id among a sample
// of vertices marks that giant component, and its vertices skip their other edges: an edge to a
// vertex outside is inspected from the outside. The kernels are in
// detail/graph/connected_components/steps.hpp, docs/connected_components.md has a picture.
//
// Why component ids are exact: edges link only what they connect, so a tree is never larger than a
// component. An edge is skipped only if both ends are in the sampled tree: otherwise it is
// inspected from the end outside. And a root is the smallest vertex of its tree.
//
// Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
//   sampling", IPDPS 2018; Jaiganesh, Burtscher, "A high-performance connected components
//   implementation for GPUs", HPDC 2018.

namespace karpos {

/// Options of connected_components. Results do not depend on them.
struct components_options {
  /// Neighbours of each vertex that are linked before the sample is taken. 0: no sample, every edge
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
    state_type s = empty_state(nullptr);
    return lay_out(graph, nullptr, s);
  }

  run(ExecSpace const& exec, Graph const& graph, vertex_id* component_ids, std::byte* memory,
      components_options const& options)
      : m_exec(exec),
        m_state(empty_state(component_ids)) {
    bool const has_transpose = graph.has_transpose();
    m_state.vertices = graph.vertices();
    m_state.sampled_neighbours = options.sampled_neighbours;
    m_state.out = {graph.row_offsets().data(), graph.column_indices().data()};
    m_state.in = {graph.in_row_offsets().data(), graph.in_column_indices().data()};
    m_state.has_in_edges = has_transpose && !graph.is_undirected();
    m_state.skips_most_frequent = has_transpose && m_state.sampled_neighbours > 0;
    lay_out(graph, memory, m_state);
  }

  components_report operator()() const {
    using s = state_type;
    loop_over_vertices("karpos::connected_components::start", start<s>{m_state});
    link_sampled_rounds();
    device::loop_over("karpos::connected_components::sample_component_ids", m_exec, tuned::samples,
                      sample_component_ids<s>{m_state});
    device::loop_over("karpos::connected_components::find_most_frequent", m_exec,
                      m_state.skips_most_frequent ? tuned::samples : 0,
                      find_most_frequent<s>{m_state});
    if constexpr (device::is_device<ExecSpace>)
      loop_over_tiles("karpos::connected_components::link_remaining", link_remaining<s>{m_state});
    else
      loop_over_vertices("karpos::connected_components::link_remaining",
                         link_remaining<s>{m_state});
    std::uint64_t const tiles =
        static_cast<std::uint64_t>(device::processors(m_exec)) * tuned::tiles_per_processor;
    device::for_each_tile<tuned::width>("karpos::connected_components::link_long_rows", m_exec,
                                        tiles, link_long_rows<s>{m_state, tiles});
    return {device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::connected_components::count", m_exec, m_state.vertices, compress<s>{m_state})};
  }

 private:
  /// Links the trees of each vertex and of its first neighbours; then every vertex points to its
  /// root.
  void link_sampled_rounds() const {
    using s = state_type;
    compress<s> const to_roots{m_state};
    if (device::is_device<ExecSpace> || m_state.sampled_neighbours == 0)
      loop_over_vertices("karpos::connected_components::compress", to_roots);
    if (m_state.sampled_neighbours == 0) return;
    if constexpr (device::is_device<ExecSpace>) {
      loop_over_tiles("karpos::connected_components::link_sampled", link_sampled<s>{m_state});
    } else {
      device::loop_in_turns("karpos::connected_components::link_sampled", m_exec, tiles(),
                            link_sampled_serially<s>{{m_state}}, tuned::tiles_per_turn);
    }
    loop_over_vertices("karpos::connected_components::compress", to_roots);
  }
  static state_type empty_state(vertex_id* component_ids) {
    return {0,
            0,
            {},
            {},
            false,
            false,
            typename state_type::forest_type(component_ids),
            nullptr,
            nullptr,
            nullptr,
            nullptr};
  }
  /// Places the arrays in memory. Returns: the bytes that they take.
  static std::size_t lay_out(Graph const& graph, std::byte* memory, state_type& s) {
    arena a(memory);
    std::uint64_t const both = graph.has_transpose() && !graph.is_undirected() ? 2 : 1;
    a.allocate(s.sample, tuned::samples);
    a.allocate(s.most_frequent, 1);
    a.allocate(s.long_rows, 1);
    a.allocate(s.long_row, both * graph.edges() / tuned::grid_degree);
    return a.bytes();
  }
  template <class Body>
  void loop_over_vertices(char const* label, Body const& body) const {
    device::loop_in_turns(label, m_exec, m_state.vertices, body);
  }
  std::uint64_t tiles() const { return (m_state.vertices + tuned::width - 1) / tuned::width; }
  template <class Body>
  void loop_over_tiles(char const* label, Body const& body) const {
    device::for_each_tile<tuned::width>(label, m_exec, tiles(), body);
  }

  ExecSpace m_exec;
  state_type m_state;
};

}  // namespace detail::connected_components

/// Returns the bytes that connected_components works in for this graph, without the component ids.
template <execution_space ExecSpace, class Graph>
std::size_t connected_components_bytes(ExecSpace const& /*exec*/, Graph const& graph) {
  return detail::connected_components::run<ExecSpace, Graph>::bytes_for(graph);
}

/// Writes the component id of each vertex v, the smallest vertex of its component, to
/// component_ids(v), in a view of n vertex ids. In a directed graph edges count both ways: the
/// components are the weakly connected ones. A directed graph with its transpose is faster, because
/// without it no edge can be skipped.
///
/// Returns: the number of components. Blocks.
/// Complexity: a pass over offsets and columns that checks the graph, unless it is trusted; a pass
///   over the vertices, and over the edges of those that are not in the sampled component;
///   O(vertices + edges) in practice.
/// Requires: the graph is not written meanwhile.
/// Concurrency: works on `exec`. A workspace serves one call at a time.
/// Memory: connected_components_bytes: some KB, and a vertex id for each 4,096 edges, or two if the
///   graph has a transpose of other arrays.
/// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate); if the component
///   ids have another length, are strided, or overlap the graph; if the workspace is too small, not
///   aligned, or overlaps the component ids; std::length_error for more vertices than VertexId can
///   number; allocation_error.
/// Source: see the top of this file.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d ComponentIds>
components_report connected_components(ExecSpace const& exec,
                                       csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                                       ComponentIds const& component_ids,
                                       components_options const& options = {}) {
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  static_assert(std::is_same_v<typename ComponentIds::value_type, VertexId>,
                "karpos: component ids come in a view of the graph's vertex type");
  detail::require_reachable<ExecSpace, typename graph_type::offsets_view, ComponentIds>();
  detail::require_contiguous("component ids", component_ids);
  detail::require_same_extent("component ids", component_ids.extent(0), "vertices",
                              graph.vertices());
  constexpr std::uint64_t max_id = std::numeric_limits<VertexId>::max();
  if (graph.vertices() > 0 && graph.vertices() - 1 > max_id)
    throw std::length_error(
        "karpos: a graph for connected_components has " + std::to_string(graph.vertices()) +
        " vertices, and its vertex ids end at " + std::to_string(max_id) + ": use wider ids");
  detail::require_apart("the component ids", component_ids, detail::range_of(options.workspace),
                        graph.row_offsets(), graph.column_indices(), graph.in_row_offsets(),
                        graph.in_column_indices());
  graph.validate_unless_trusted(exec);
  if (graph.vertices() == 0) return {};
  using run = detail::connected_components::run<ExecSpace, graph_type>;
  Kokkos::Profiling::ScopedRegion const region("karpos::connected_components");
  detail::workspace<ExecSpace> const memory(
      exec, {"connected_components", "connected_components_bytes(exec, graph)"}, options.workspace,
      run::bytes_for(graph));
  auto const report = run(exec, graph, component_ids.data(), memory.data(), options)();
  memory.finish();
  return report;
}

}  // namespace karpos
