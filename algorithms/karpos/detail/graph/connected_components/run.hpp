// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/components_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/connected_components/steps.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loops.hpp"

// The host driver of connected components: the order of its steps (steps.hpp), and its memory.

namespace karpos::detail::connected_components {

template <execution_space ExecSpace, class Graph>
class run {
 public:
  using vertex_id = typename Graph::vertex_type;
  using state_type = state<ExecSpace, vertex_id, typename Graph::offset_type>;
  using tuned = tuning<ExecSpace>;

  static std::size_t bytes_for(Graph const& graph) {
    state_type s{};
    return lay_out(graph, nullptr, s);
  }

  run(ExecSpace const& exec, Graph const& graph, vertex_id* component_ids, std::byte* memory,
      components_options const& options)
      : m_exec(exec),
        m_state{} {
    bool const has_transpose = graph.has_transpose();
    m_state.components = typename state_type::forest_type(component_ids);
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

}  // namespace karpos::detail::connected_components
