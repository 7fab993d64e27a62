// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include "karpos/bfs_workspace.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/bfs_batch/plan.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/device/program.hpp"

namespace karpos {

namespace detail::bfs_batch {
template <class ExecSpace, class Graph>
class batch;
}

/// Memory of batches of breadth-first searches of a graph, and a copy of the graph whose vertices
/// are numbered by falling degree (in-degree, if there are in-edges). That lets batches read memory
/// in better order. Made once, for any number of batches. In a deep graph, a batch may run the
/// searches of a pass one by one; the first batch that does also makes a bfs_workspace. If there is
/// not enough memory for that, or a vertex has 2^31 out-edges or more, the searches of the pass
/// stay together, and the next deep pass tries again. Batches allocate nothing else.
///
/// Requires: the graph does not change while the workspace is made. After that its memory may be
///   freed, because the workspace has a copy.
/// Concurrency: copies share the memory. One batch at a time.
/// Memory: offsets and 32-bit columns of the graph, and of a transpose with arrays of its own;
///   besides, 68.25 bytes a vertex and 8 bytes for each 256 edges (bytes_for). Once a batch has run
///   searches one by one, also a bfs_workspace, 12.4 bytes a vertex.
template <execution_space ExecSpace, class Graph>
class bfs_batch_workspace {
 public:
  using graph_type = Graph;
  using memory_space = typename Graph::memory_space;

  /// Checks the graph unless it is trusted, and copies it. Blocks.
  ///
  /// Complexity: up to three calls of build_csr: of the edges; of those of a transpose with arrays
  ///   of its own; and of a pair (degree, vertex) for each vertex, to order the vertices. Unless
  ///   the graph is trusted, also a pass over offsets and columns.
  /// Memory: while it copies, what build_csr takes, and 4 bytes an edge.
  /// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate);
  ///   std::length_error for more than 2^32 - 64 vertices, or for more than 2^32 - 2^21 edges with
  ///   offsets of 32 bits; allocation_error if there is not enough memory.
  bfs_batch_workspace(ExecSpace const& exec, Graph const& graph)
      : m_vertices(graph.vertices()),
        m_has_in(graph.has_transpose()) {
    detail::require_reachable<ExecSpace, typename Graph::offsets_view>();
    detail::user_call const call("bfs_batch_workspace");
    detail::frontier::require_size(graph);
    graph.validate_unless_trusted(exec);
    m_ordered = ordered(exec, graph);
    detail::allocate_or_explain<memory_space>(bytes_for(exec, graph), "a batch of searches",
                                              "free memory or search a smaller graph",
                                              [&] { allocate(exec); });
    if (m_vertices > 0) count_rows(exec);
  }

  /// Returns the bytes that a workspace for this graph keeps, without the bfs_workspace for
  /// searches one by one.
  static std::size_t bytes_for(ExecSpace const& exec, Graph const& graph) {
    using namespace detail::bfs_batch;
    std::size_t const copies = graph.has_transpose() && !graph.is_undirected() ? 2 : 1;
    state_type s{};
    return lay_out(detail::arena(), graph.vertices(), graph.edges(), s) +
           copies * ordered::graph_type::bytes_for(graph.vertices(), graph.edges()) +
           graph.vertices() * sizeof(local_vertex) +
           device::grid_memory<ExecSpace>::bytes_for(shape(exec, false)) +
           device::grid_memory<ExecSpace>::bytes_for(shape(exec, true));
  }

  std::uint64_t vertices() const { return m_vertices; }

 private:
  template <class E, class G>
  friend class detail::bfs_batch::batch;
  template <class T>
  using array = Kokkos::View<T*, memory_space>;
  using tuned = detail::bfs_batch::tuning<ExecSpace>;
  using ordered = detail::bfs_batch::ordered_graph<ExecSpace, Graph>;
  using state_type = detail::bfs_batch::batch_state<ExecSpace, typename Graph::offset_type>;

  /// Places the arrays of a pass. Returns: their bytes.
  template <class Arena>
  static std::size_t lay_out(Arena a, std::uint64_t vertices, std::uint64_t edges, state_type& s) {
    a.allocate(s.seen, vertices);
    for (auto& f : s.front) a.allocate(f, vertices);
    for (auto& b : s.bits) a.allocate(b, (vertices + 31) / 32);
    a.allocate(s.plane, vertices * detail::bfs_batch::planes);
    a.allocate(s.items, vertices + edges / tuned::item_edges);
    a.allocate(s.sources, detail::bfs_batch::searches_at_once);
    a.allocate(s.levels, 3);
    a.allocate(s.record, 1);
    return a.bytes();
  }
  /// Returns the shape of the grid. launched: each step is a kernel of its own.
  static device::grid_shape shape(ExecSpace const& exec, bool launched) {
    constexpr std::size_t list = tuned::list_bytes;
    std::size_t const all = launched ? tuned::launched_scratch_bytes : tuned::scratch_bytes;
    int const threads = !tuned::on_gpu ? tuned::width : launched ? 256 : tuned::team_threads;
    std::size_t const lists = list * static_cast<std::size_t>(threads / tuned::width);
    return device::shape_for<tuned::team_threads, tuned::teams_per_processor, tuned::width>(
        exec, all - lists, list);
  }

  void allocate(ExecSpace const& exec) {
    std::uint64_t const edges = m_ordered.graph().edges();
    state_type s{};
    m_memory = detail::uninitialized_array<array<std::byte>>(
        exec, "karpos::bfs_batch::memory", lay_out(detail::arena(), m_vertices, edges, s));
    lay_out(detail::frontier::zeroing_arena<ExecSpace>{exec, detail::arena(m_memory.data())},
            m_vertices, edges, s);
    m_grid[0] = device::grid_memory<ExecSpace>(exec, shape(exec, false));
    m_grid[1] = device::grid_memory<ExecSpace>(exec, shape(exec, true));
  }
  using single_workspace = bfs_workspace<ExecSpace, typename ordered::graph_type>;

  /// Returns: the workspace of searches one by one, made by the first call; null if it cannot be
  ///   made.
  single_workspace const* try_single_workspace(ExecSpace const& exec) const {
    try {
      if (!*m_single_workspace) m_single_workspace->emplace(exec, m_ordered.graph());
      return &**m_single_workspace;
    } catch (allocation_error const&) {
      return nullptr;
    } catch (std::length_error const&) {
      return nullptr;  // a vertex has 2^31 out-edges or more
    }
  }

  void count_rows(ExecSpace const& exec) {
    m_pull_rows = m_has_in ? m_ordered.rows_above(exec, 0) : m_vertices;
    m_team_rows = m_ordered.rows_above(exec, tuned::team_degree);
    m_large_rows = m_ordered.rows_above(exec, tuned::large_degree);
    m_medium_rows = m_ordered.rows_above(exec, tuned::medium_degree);
    exec.fence("karpos::bfs_batch_workspace: rows");
  }

  state_type state(bool launched) const {
    auto const& g = m_ordered.graph();
    state_type s{};
    lay_out(detail::arena(m_memory.data()), m_vertices, g.edges(), s);
    s.vertices = m_vertices;
    s.words = (m_vertices + 31) / 32;
    s.edges = g.edges();
    s.pull_rows = m_pull_rows;
    s.team_rows = m_team_rows;
    s.large_rows = m_large_rows;
    s.medium_rows = m_medium_rows;
    std::size_t const scratch = launched ? tuned::launched_scratch_bytes : tuned::scratch_bytes;
    s.cached = static_cast<std::uint32_t>(
        Kokkos::min(m_vertices, std::uint64_t((scratch - 16) / sizeof(std::uint64_t))));
    s.out = {g.row_offsets().data(), g.column_indices().data()};
    s.in = m_has_in ? typename state_type::graph_rows{g.in_row_offsets().data(),
                                                      g.in_column_indices().data()}
                    : s.out;
    return s;
  }

  std::uint64_t m_vertices = 0, m_pull_rows = 0, m_team_rows = 0, m_large_rows = 0,
                m_medium_rows = 0;
  bool m_has_in = false;
  ordered m_ordered;
  array<std::byte> m_memory;
  std::shared_ptr<std::optional<single_workspace>> m_single_workspace =
      std::make_shared<std::optional<single_workspace>>();
  device::grid_memory<ExecSpace> m_grid[2];  // for one kernel; for a kernel for each step
};

}  // namespace karpos
