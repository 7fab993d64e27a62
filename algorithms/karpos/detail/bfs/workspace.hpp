// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <stdexcept>
#include <string>

#include "karpos/csr_graph.hpp"
#include "karpos/detail/bfs/prepare.hpp"
#include "karpos/detail/bfs/program.hpp"
#include "karpos/device/program.hpp"

namespace karpos {

/// The memory of a breadth-first search, and what it learns of a graph in advance; for any number of searches from
/// other sources. No search allocates. Copies share the memory: one search at a time, or both may never end. The graph must not change while the workspace is used.
///
/// Memory: 12.4 bytes a vertex, 40 KB, and 27 KB for each CPU thread (bfs_workspace_bytes).
template <execution_space ExecSpace, class Graph>
class bfs_workspace {
 public:
  using graph_type = Graph;
  using vertex_type = typename Graph::vertex_type;
  using memory_space = typename Graph::memory_space;

  /// Looks at the degrees of all vertices. Complexity: three passes over the row offsets; waits for them.
  /// Throws: std::length_error for more than 2^32 - 64 vertices, or 2^32 - 2^21 edges with offsets of 32 bits;
  ///  allocation_error if memory cannot be had.
  bfs_workspace(ExecSpace const& exec, Graph const& graph)
      : m_graph(graph),
        m_words((graph.vertices() + 31) / 32) {
    detail::require_reachable<ExecSpace, typename Graph::offsets_view>();
    if (graph.vertices() > max_vertices)
      throw std::length_error("karpos: a graph for bfs has " + std::to_string(graph.vertices()) +
                              " vertices (at most " + std::to_string(max_vertices) +
                              "): its queues hold 32-bit entries");
    if (graph.edges() > max_edges)
      throw std::length_error("karpos: a graph for bfs has " + std::to_string(graph.edges()) +
                              " edges (at most " + std::to_string(max_edges) +
                              " with offsets of 32 bits): use offsets of 64 bits");
    try {
      allocate(exec);
    } catch (std::exception const& e) {
      throw allocation_error("no " + std::to_string(bytes_for(exec, graph)) + " bytes for bfs in " +
                             memory_space::name() + " (" + e.what() +
                             "): free memory or search a smaller graph");
    }
    if (graph.vertices() > 0) look_at_degrees(exec);
  }

  static std::size_t bytes_for(ExecSpace const& exec, Graph const& graph) {
    std::size_t const words = (graph.vertices() + 31) / 32;
    auto const shape = shape_of(exec);
    return words * 3 * sizeof(std::uint32_t) + graph.vertices() * 3 * sizeof(std::uint32_t) +
           hub_capacity(graph) * sizeof(std::uint32_t) +
           static_cast<std::size_t>(shape.teams) * detail::bfs::degree_classes *
               sizeof(std::uint32_t) +
           3 * sizeof(detail::bfs::level_counters) + sizeof(detail::bfs::search_record) +
           device::grid_memory<ExecSpace>::bytes_for(shape);
  }

 private:
  template <execution_space E, class G>
  friend class bfs_search;
  template <class T>
  using array = Kokkos::View<T*, memory_space>;
  using tuned = detail::bfs::tuning<ExecSpace>;
  using rows = detail::bfs::rows<vertex_type, typename Graph::offset_type>;
  static constexpr std::uint64_t max_vertices = (std::uint64_t(1) << 32) - 64;
  /// Steps of a GPU go beyond the last edge before they notice.
  static constexpr std::uint64_t max_edges = sizeof(typename Graph::offset_type) == 4
                                                 ? (std::uint64_t(1) << 32) - (1 << 21)
                                                 : ~std::uint64_t(0);

  template <class Hooks>
  using state =
      detail::bfs::search_state<ExecSpace, vertex_type, typename Graph::offset_type, Hooks>;

  static std::uint64_t hub_capacity(Graph const& graph) {
    std::uint64_t const share = graph.vertices() / 256 + 1;
    constexpr std::uint64_t entries = tuned::hub_cache_entries;
    return share < entries ? share : entries;
  }
  static device::grid_shape shape_of(ExecSpace const& exec) {
    using s = device::state_copy<state<int>>;
    using p = device::state_copy<detail::bfs::progress>;
    using bitmap = detail::bfs::search_bitmap<s, p>;
    using candidates = detail::bfs::search_candidates<s, p>;
    return device::shape_for<tuned::team_threads, tuned::teams_per_processor, tuned::tile_width>(
        exec, bitmap::team_bytes,
        bitmap::tile_bytes < candidates::tile_bytes ? candidates::tile_bytes : bitmap::tile_bytes);
  }

  template <class T>
  static array<T> make(ExecSpace const& exec, char const* label, std::uint64_t n) {
    return array<T>(Kokkos::view_alloc(exec, std::string("karpos::bfs::") + label), n);
  }
  void allocate(ExecSpace const& exec) {
    using namespace detail::bfs;
    std::uint64_t const n = m_graph.vertices();
    m_isolated = make<std::uint32_t>(exec, "isolated", m_words);
    for (auto& v : m_visited) v = make<std::uint32_t>(exec, "visited", m_words);
    m_queue = make<std::uint32_t>(exec, "queue", n);
    for (auto& c : m_candidates) c = make<std::uint32_t>(exec, "candidates", n);
    m_hubs = make<std::uint32_t>(exec, "hubs", hub_capacity(m_graph));
    m_grid = device::grid_memory<ExecSpace>(exec, shape_of(exec));
    m_levels = make<level_counters>(exec, "levels", 3);
    m_parts = make<std::uint32_t>(
        exec, "parts", static_cast<std::uint64_t>(m_grid.shape().teams) * degree_classes);
    m_record = make<search_record>(exec, "record", 1);
  }

  rows out_rows() const { return {m_graph.row_offsets().data(), m_graph.column_indices().data()}; }
  rows in_rows() const {
    return {m_graph.in_row_offsets().data(), m_graph.in_column_indices().data()};
  }
  static auto range(ExecSpace const& exec, std::uint64_t n) {
    return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(exec, 0, n);
  }

  void look_at_degrees(ExecSpace const& exec) {
    using namespace detail::bfs;
    std::uint64_t const n = m_graph.vertices();
    bool const has_in = m_graph.has_transpose();
    Kokkos::parallel_for("karpos::bfs::isolated", range(exec, m_words),
                         mark_isolated<rows>{out_rows(), in_rows(), has_in, n, m_isolated.data()});
    auto const histogram = make<std::uint64_t>(exec, "histogram", degree_buckets::count);
    using counter = count_degrees<rows>;
    std::uint64_t sums[counter::value_count] = {};
    Kokkos::parallel_reduce(
        "karpos::bfs::degrees", range(exec, n),
        counter{out_rows(),
                in_rows(),
                has_in,
                {tuned::tile_degree, tuned::team_degree, tuned::grid_degree},
                histogram.data()},
        Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
            sums, counter::value_count));
    exec.fence("karpos::bfs_workspace: degrees");
    for (int c = 0; c < degree_classes; ++c) m_class_size[c] = sums[c];
    m_reachable = sums[degree_classes];
    m_needs_classes = sums[degree_classes + 1] > 0;
    if (sums[degree_classes + 2] > 0)
      throw std::length_error(
          "karpos: a vertex of a graph for bfs has 2^31 edges or more: remove duplicates");
    choose_hubs(exec, histogram);
  }
  void choose_hubs(ExecSpace const& exec, array<std::uint64_t> const& histogram) {
    using namespace detail::bfs;
    auto const seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, histogram);
    m_hub_degree =
        hub_threshold(seen.data(), hub_capacity(m_graph), count_degrees<rows>::lowest_counted);
    auto const count = make<std::uint32_t>(exec, "hub_count", 1);
    Kokkos::parallel_for("karpos::bfs::hubs", range(exec, m_graph.vertices()),
                         list_hubs<rows>{out_rows(), m_hub_degree, m_hubs.data(), count.data()});
    Kokkos::deep_copy(exec, m_hub_count, Kokkos::subview(count, 0));
    exec.fence("karpos::bfs_workspace: hubs");
  }

  Graph m_graph;
  std::uint64_t m_words = 0, m_reachable = 0;
  std::uint64_t m_class_size[detail::bfs::degree_classes] = {};
  std::uint64_t m_hub_degree = ~std::uint64_t(0);
  std::uint32_t m_hub_count = 0;
  bool m_needs_classes = false;  // some degree is too high for a lane
  array<std::uint32_t> m_isolated, m_visited[2], m_queue, m_candidates[2], m_hubs, m_parts;
  array<detail::bfs::level_counters> m_levels;
  array<detail::bfs::search_record> m_record;
  device::grid_memory<ExecSpace> m_grid;
};

/// Bytes that a bfs_workspace for this graph allocates.
template <class Graph, execution_space ExecSpace = typename Graph::memory_space::execution_space>
std::size_t bfs_workspace_bytes(Graph const& graph, ExecSpace const& exec = {}) {
  return bfs_workspace<ExecSpace, Graph>::bytes_for(exec, graph);
}

}  // namespace karpos
