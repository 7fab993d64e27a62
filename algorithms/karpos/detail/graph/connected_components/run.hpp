// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/components_options.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/graph/connected_components/steps.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/table_options.hpp"

// The host driver of connected components: its memory, and the order of its steps (steps.hpp).

namespace karpos::detail::connected_components {

template <class ExecSpace, class Graph>
using state_of = state<ExecSpace, typename Graph::vertex_type, typename Graph::offset_type>;

/// Throws what connected_components refuses: component ids that are not one for each row; ids or a
/// workspace that overlap each other or the graph; more vertices, n, than ids can number. which:
/// "vertices", or those of a rank.
template <class Graph, class ComponentIds>
void require_ids(Graph const& rows, std::uint64_t n, char const* which,
                 ComponentIds const& component_ids, wrapped_memory const& workspace) {
  using vertex = typename Graph::vertex_type;
  static_assert(std::is_same_v<typename ComponentIds::value_type, vertex>,
                "karpos: component ids come in a view of the graph's vertex type");
  require_contiguous("component ids", component_ids);
  require_same_extent("component ids", component_ids.extent(0), which, rows.vertices());
  constexpr std::uint64_t max_id = std::numeric_limits<vertex>::max();
  if (n > 0 && n - 1 > max_id)
    reject<std::length_error>("the graph has " + std::to_string(n) + " vertices",
                              "its vertex ids end at " + std::to_string(max_id), "use wider ids");
  require_apart("the memory of component ids, or the workspace,",
                {range_of(component_ids), range_of(workspace)}, memory_of(rows));
}

/// Places the arrays of a state in memory. Returns: the bytes that they take.
template <class Graph, class State>
std::size_t lay_out(Graph const& graph, std::byte* memory, State& s) {
  using tuned = typename State::tuned;
  arena a(memory);
  std::uint64_t const edges =
      graph.column_indices().extent(0) +
      (graph.is_undirected() ? 0 : std::uint64_t(graph.in_column_indices().extent(0)));
  a.allocate(s.sample, tuned::samples);
  a.allocate(s.most_frequent, 1);
  a.allocate(s.long_rows, 1);
  a.allocate(s.long_row, edges / tuned::grid_degree);
  return a.bytes();
}
template <class ExecSpace, class Graph>
std::size_t bytes_for(Graph const& graph) {
  state_of<ExecSpace, Graph> s{};
  return lay_out(graph, nullptr, s);
}

/// Returns the state that links the rows of a graph, which are those of the vertices from `first`
/// on, of n vertices in all. memory: bytes_for bytes.
template <class ExecSpace, class Graph>
state_of<ExecSpace, Graph> make_state(Graph const& graph, std::uint64_t first, std::uint64_t n,
                                      typename Graph::vertex_type* component_ids, std::byte* memory,
                                      components_options const& options) {
  using state = state_of<ExecSpace, Graph>;
  state s{};
  s.components = typename state::forest_type(component_ids);
  s.vertices = n;
  s.begin = first;
  s.end = first + graph.vertices();
  s.sampled_neighbours = options.sampled_neighbours;
  s.has_in_edges = graph.has_transpose() && !graph.is_undirected();
  s.skips_most_frequent = graph.has_transpose() && s.sampled_neighbours > 0;
  if (graph.vertices() > 0)
    s.out = {graph.row_offsets().data() - first, graph.column_indices().data()};
  if (graph.vertices() > 0 && s.has_in_edges)
    s.in = {graph.in_row_offsets().data() - first, graph.in_column_indices().data()};
  lay_out(graph, memory, s);
  return s;
}

/// Lets every vertex point to its root. Returns how many roots there are among n vertices.
template <class ExecSpace, class State>
std::uint64_t count_roots(ExecSpace const& exec, State const& s) {
  return device::reduce_over<Kokkos::Sum<std::uint64_t>>("karpos::connected_components::count",
                                                         exec, s.vertices, compress<State>{s});
}
template <class ExecSpace, class State>
void compress_all(ExecSpace const& exec, State const& s) {
  device::loop_in_turns("karpos::connected_components::compress", exec, s.vertices,
                        compress<State>{s});
}

/// Makes the forest, and links the first neighbours of each row.
template <class ExecSpace, class State>
void link_first_neighbours(ExecSpace const& exec, State const& s) {
  using tuned = typename State::tuned;
  std::uint64_t const tiles = (s.end - s.begin + tuned::width - 1) / tuned::width;
  device::loop_in_turns("karpos::connected_components::start", exec, s.vertices, start<State>{s});
  if (device::is_device<ExecSpace> || s.sampled_neighbours == 0) compress_all(exec, s);
  if (s.sampled_neighbours == 0) return;
  if constexpr (device::is_device<ExecSpace>)
    device::for_each_tile<tuned::width>("karpos::connected_components::link_sampled", exec, tiles,
                                        link_sampled<State>{s});
  else
    device::loop_in_turns("karpos::connected_components::link_sampled", exec, tiles,
                          link_sampled_serially<State>{{s}}, tuned::tiles_per_turn);
  compress_all(exec, s);
}

/// Links the other neighbours, except those of vertices of the most frequent component.
template <class ExecSpace, class State>
void link_other_neighbours(ExecSpace const& exec, State const& s) {
  using tuned = typename State::tuned;
  std::uint64_t const rows = s.end - s.begin, tiles = (rows + tuned::width - 1) / tuned::width;
  if (rows == 0) return;
  device::loop_over("karpos::connected_components::sample_component_ids", exec, tuned::samples,
                    sample_component_ids<State>{s});
  device::loop_over("karpos::connected_components::find_most_frequent", exec,
                    s.skips_most_frequent ? tuned::samples : 0, find_most_frequent<State>{s});
  if constexpr (device::is_device<ExecSpace>)
    device::for_each_tile<tuned::width>("karpos::connected_components::link_remaining", exec, tiles,
                                        link_remaining<State>{s});
  else
    device::loop_in_turns("karpos::connected_components::link_remaining", exec, rows,
                          link_remaining<State>{s});
  std::uint64_t const sharing =
      static_cast<std::uint64_t>(device::processors(exec)) * tuned::tiles_per_processor;
  device::for_each_tile<tuned::width>("karpos::connected_components::link_long_rows", exec, sharing,
                                      link_long_rows<State>{s, sharing});
}

/// Writes the component ids of a graph. memory: bytes_for bytes.
template <class ExecSpace, class Graph>
components_report run(ExecSpace const& exec, Graph const& graph,
                      typename Graph::vertex_type* component_ids, std::byte* memory,
                      components_options const& options) {
  auto const s = make_state<ExecSpace>(graph, 0, graph.vertices(), component_ids, memory, options);
  link_first_neighbours(exec, s);
  link_other_neighbours(exec, s);
  return {count_roots(exec, s)};
}

}  // namespace karpos::detail::connected_components
