// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/components_options.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/connected_components/steps.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loops.hpp"

// The host driver of connected components: its memory, and the order of its steps (steps.hpp).

namespace karpos::detail::connected_components {

template <class ExecSpace, class Graph>
using state_of = state<ExecSpace, typename Graph::vertex_type, typename Graph::offset_type>;

/// Places the arrays of a state in memory. Returns: the bytes that they take.
template <class Graph, class State>
std::size_t lay_out(Graph const& graph, std::byte* memory, State& s) {
  using tuned = typename State::tuned;
  arena a(memory);
  std::uint64_t const both = graph.has_transpose() && !graph.is_undirected() ? 2 : 1;
  a.allocate(s.sample, tuned::samples);
  a.allocate(s.most_frequent, 1);
  a.allocate(s.long_rows, 1);
  a.allocate(s.long_row, both * graph.edges() / tuned::grid_degree);
  return a.bytes();
}
template <class ExecSpace, class Graph>
std::size_t bytes_for(Graph const& graph) {
  state_of<ExecSpace, Graph> s{};
  return lay_out(graph, nullptr, s);
}

/// Writes the component ids of a graph. memory: bytes_for bytes.
template <class ExecSpace, class Graph>
components_report run(ExecSpace const& exec, Graph const& graph,
                      typename Graph::vertex_type* component_ids, std::byte* memory,
                      components_options const& options) {
  using state = state_of<ExecSpace, Graph>;
  using tuned = tuning<ExecSpace>;
  state s{};
  s.components = typename state::forest_type(component_ids);
  s.vertices = graph.vertices();
  s.sampled_neighbours = options.sampled_neighbours;
  s.out = {graph.row_offsets().data(), graph.column_indices().data()};
  s.in = {graph.in_row_offsets().data(), graph.in_column_indices().data()};
  s.has_in_edges = graph.has_transpose() && !graph.is_undirected();
  s.skips_most_frequent = graph.has_transpose() && s.sampled_neighbours > 0;
  lay_out(graph, memory, s);

  std::uint64_t const tiles = (s.vertices + tuned::width - 1) / tuned::width;
  auto const to_roots = [&] {
    device::loop_in_turns("karpos::connected_components::compress", exec, s.vertices,
                          compress<state>{s});
  };
  device::loop_in_turns("karpos::connected_components::start", exec, s.vertices, start<state>{s});
  if (device::is_device<ExecSpace> || s.sampled_neighbours == 0) to_roots();
  if (s.sampled_neighbours > 0) {
    if constexpr (device::is_device<ExecSpace>)
      device::for_each_tile<tuned::width>("karpos::connected_components::link_sampled", exec, tiles,
                                          link_sampled<state>{s});
    else
      device::loop_in_turns("karpos::connected_components::link_sampled", exec, tiles,
                            link_sampled_serially<state>{{s}}, tuned::tiles_per_turn);
    to_roots();
  }
  device::loop_over("karpos::connected_components::sample_component_ids", exec, tuned::samples,
                    sample_component_ids<state>{s});
  device::loop_over("karpos::connected_components::find_most_frequent", exec,
                    s.skips_most_frequent ? tuned::samples : 0, find_most_frequent<state>{s});
  if constexpr (device::is_device<ExecSpace>)
    device::for_each_tile<tuned::width>("karpos::connected_components::link_remaining", exec, tiles,
                                        link_remaining<state>{s});
  else
    device::loop_in_turns("karpos::connected_components::link_remaining", exec, s.vertices,
                          link_remaining<state>{s});
  std::uint64_t const sharing =
      static_cast<std::uint64_t>(device::processors(exec)) * tuned::tiles_per_processor;
  device::for_each_tile<tuned::width>("karpos::connected_components::link_long_rows", exec, sharing,
                                      link_long_rows<state>{s, sharing});
  return {device::reduce_over<Kokkos::Sum<std::uint64_t>>("karpos::connected_components::count",
                                                          exec, s.vertices, compress<state>{s})};
}

}  // namespace karpos::detail::connected_components
