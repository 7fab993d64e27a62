// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>

#include "karpos/bfs_options.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/bfs/bottom_up.hpp"
#include "karpos/detail/graph/bfs/plan.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/device/program.hpp"

namespace karpos::distributed {

template <execution_space ExecSpace, class Graph>
class bfs_workspace;

}  // namespace karpos::distributed

namespace karpos {

/// Memory of breadth-first searches, and what they need to know of a graph in advance: isolated
/// vertices, degree classes, hub vertices. Made once, for any number of searches from any sources.
/// No search allocates. A workspace holds the graph's views, so that managed memory stays
/// allocated.
///
/// Requires: the graph does not change while the workspace is used, which is not checked.
/// Concurrency: copies share the memory. One search at a time, except searches queued on one `exec`
/// (bfs.hpp): two concurrent ones may deadlock.
/// Memory: 12.4 bytes a vertex, 40 KB, and 49 KB for each CPU thread (bfs_workspace_bytes); after
///   pad_rows 16 or 80 bytes a vertex more (padded_bytes).
template <execution_space ExecSpace, class Graph>
class bfs_workspace {
 public:
  using graph_type = Graph;
  using vertex_type = typename Graph::vertex_type;
  using memory_space = typename Graph::memory_space;

  /// Checks the graph unless it is trusted, and reads the degrees of all vertices. Searches do not
  /// check it again. Blocks.
  ///
  /// Complexity: three passes over the row offsets. Unless the graph is trusted, one more over
  ///   offsets and columns, also those of the transpose.
  /// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate);
  ///   std::length_error for more than 2^32 - 64 vertices, for 2^31 out-edges or more at a vertex,
  ///   or for more than 2^32 - 2^21 edges with offsets of 32 bits; allocation_error if there is not
  ///   enough memory.
  bfs_workspace(ExecSpace const& exec, Graph const& graph)
      : m_graph(graph),
        m_words((graph.vertices() + 31) / 32) {
    detail::require_reachable<ExecSpace, typename Graph::offsets_view>();
    detail::user_call const call("bfs_workspace");
    detail::frontier::require_size(graph);
    graph.validate_unless_trusted(exec);
    detail::allocate_or_explain<memory_space>(bytes_for(exec, graph), "a search",
                                              "free memory or search a smaller graph",
                                              [&] { allocate(exec); });
    if (graph.vertices() > 0)
      read_degrees(exec);
    else
      exec.fence("karpos::bfs_workspace: made");
  }

  /// Copies short rows of the graph into records of fixed size. This pays on GPUs, for many
  /// searches of a graph of many levels, such as a mesh or a road network.
  ///
  /// hops = 1: rows of up to four edges, into 16 bytes each. A level of few vertices then waits for
  /// one load less.
  /// hops = 2: also makes, for each vertex of an undirected graph, a row of 64 bytes that lists all
  /// vertices within two hops. A search then goes two levels at a time.
  /// Rows that do not fit their records are read from the graph. Searches with bfs_hooks::follow
  /// use the records of one hop only.
  ///
  /// Returns: the hops of the rows that searches use now. 0: none were made, because they would not
  ///   help: on CPUs, and in graphs of more than four edges a vertex on average. 1 although 2 were
  ///   asked for: the graph is directed.
  /// Complexity: a pass over the graph; for two hops another one, which reads the rows of each
  ///   vertex's neighbours. Blocks.
  /// Concurrency: not while a search of this workspace runs. Copies of it that were made before do
  ///   not get these rows.
  /// Memory: 16 bytes a vertex; for two hops 80.
  /// Throws: std::invalid_argument for other hops; allocation_error if there is not enough memory:
  ///   searches go on with the rows that there are.
  int pad_rows(ExecSpace const& exec, int hops = 1) {
    detail::user_call const call("bfs_workspace", "pad_rows");
    if (hops != 1 && hops != 2)
      detail::reject("rows of " + std::to_string(hops) + " hops are refused", "neither 1 nor 2",
                     "pass 1 for padded rows, 2 for rows of all vertices within two hops");
    if (!tuned::has_team_local_search || m_graph.edges() > 4 * m_graph.vertices()) return 0;
    using namespace detail::bfs;
    if (m_padded.extent(0) == 0)
      m_padded =
          make_vertex_rows<padded_row>(exec, "karpos::bfs::padded", "padded rows of a search",
                                       "search without them", pad_row<rows>{out_rows()});
    if (hops == 2 && m_two_hop.extent(0) == 0 && m_graph.is_undirected())
      m_two_hop = make_vertex_rows<two_hop_row>(exec, "karpos::bfs::two_hop", "rows of two hops",
                                                "search with padded rows",
                                                make_two_hop_row{m_padded.data()});
    return m_two_hop.extent(0) > 0 ? 2 : 1;
  }

  /// Returns the bytes of the rows that pad_rows has made.
  std::size_t padded_bytes() const {
    return m_padded.extent(0) * sizeof(detail::bfs::padded_row) +
           m_two_hop.extent(0) * sizeof(detail::bfs::two_hop_row);
  }

  std::uint64_t vertices() const { return m_graph.vertices(); }

  /// Returns the bytes that a workspace for this graph allocates.
  static std::size_t bytes_for(ExecSpace const& exec, Graph const& graph) {
    auto const shape = shape_of(exec);
    return lay_out(detail::arena(), graph, shape, search_state<bfs_hooks<>>{}) +
           sizeof(detail::bfs::search_record) + device::grid_memory<ExecSpace>::bytes_for(shape);
  }

 private:
  template <execution_space E, class G>
  friend class bfs_search;
  template <execution_space E, class G>
  friend class distributed::bfs_workspace;
  template <class T>
  using array = Kokkos::View<T*, memory_space>;
  using tuned = detail::bfs::tuning<ExecSpace>;
  using rows = detail::frontier::rows<vertex_type, typename Graph::offset_type>;
  template <class Hooks>
  using search_state =
      detail::bfs::search_state<ExecSpace, vertex_type, typename Graph::offset_type, Hooks>;

  /// Makes an array with the row make_row(v) for each vertex v.
  template <class Row, class MakeRow>
  array<Row> make_vertex_rows(ExecSpace const& exec, std::string const& label, char const* what,
                              char const* suggestion, MakeRow const& make_row) const {
    auto const made =
        detail::allocate_array<array<Row>>(exec, label, what, suggestion, m_graph.vertices());
    detail::fill_with(label, exec, made, make_row);
    exec.fence("karpos::bfs_workspace: rows of all vertices");
    return made;
  }
  /// Returns the largest number of hub vertices: the number of entries of the hub vertex cache, or
  /// n / 256 + 1 of n vertices if that is less.
  static std::uint64_t hub_capacity(Graph const& graph) {
    return Kokkos::min(graph.vertices() / 256 + 1, std::uint64_t(tuned::hub_cache_entries));
  }
  static device::grid_shape shape_of(ExecSpace const& exec) {
    using s = device::state_copy<search_state<int>>;
    using p = device::state_copy<detail::bfs::progress>;
    using bitmap = detail::bfs::bottom_up_bitmap<s, p>;
    using queue = detail::bfs::bottom_up_queue<s, p>;
    return device::shape_for<tuned::team_threads, tuned::teams_per_processor, tuned::tile_width>(
        exec, bitmap::team_bytes,
        Kokkos::max(std::size_t(bitmap::tile_bytes), std::size_t(queue::tile_bytes)));
  }

  /// Places the arrays of a search. s: its search_state. Returns: their bytes.
  template <class Arena, class State>
  static std::size_t lay_out(Arena a, Graph const& graph, device::grid_shape shape, State&& s) {
    std::uint64_t const n = graph.vertices(), words = (n + 31) / 32;
    auto const teams = static_cast<std::uint64_t>(shape.teams);
    a.allocate(s.isolated, words);
    for (auto& v : s.visited) a.allocate(v, words);
    a.allocate(s.queue, n);
    for (auto& u : s.unvisited) a.allocate(u, n);
    a.allocate(s.hubs, hub_capacity(graph));
    a.allocate(s.scan_counts, teams * detail::frontier::degree_classes);
    a.allocate(s.levels, 3);
    if constexpr (tuned::has_team_local_search) {
      a.allocate(s.list_lengths, 2 * teams);
      a.allocate(s.local_search_sums, 3);
    } else {
      a.allocate(s.slice_results, 2 * teams * tuned::slices_of_team);
    }
    return a.bytes();
  }

  void allocate(ExecSpace const& exec) {
    m_grid = device::grid_memory<ExecSpace>(exec, shape_of(exec));
    m_record =
        array<detail::bfs::search_record>(Kokkos::view_alloc(exec, "karpos::bfs::record"), 1);
    search_state<bfs_hooks<>> s{};
    m_memory = detail::uninitialized_array<array<std::byte>>(
        exec, "karpos::bfs::memory", lay_out(detail::arena(), m_graph, m_grid.shape(), s));
    lay_out(detail::frontier::zeroing_arena<ExecSpace>{exec, detail::arena(m_memory.data())},
            m_graph, m_grid.shape(), s);
    m_isolated = array<std::uint32_t>(s.isolated, m_words);
  }

  rows out_rows() const { return {m_graph.row_offsets().data(), m_graph.column_indices().data()}; }
  rows in_rows() const {
    return {m_graph.in_row_offsets().data(), m_graph.in_column_indices().data()};
  }

  void read_degrees(ExecSpace const& exec) {
    using namespace detail::bfs;
    bool const has_in = m_graph.has_transpose();
    detail::fill_with("karpos::bfs::isolated", exec, m_isolated,
                      find_isolated<rows>{out_rows(), in_rows(), has_in, m_graph.vertices()});
    array<degree_histogram> const histogram(Kokkos::view_alloc(exec, "karpos::bfs::histogram"), 1);
    auto const sums = detail::frontier::read_degrees<tuned>(exec, m_graph.vertices(), out_rows(),
                                                            in_rows(), has_in, histogram.data());
    std::copy_n(sums.data(), degree_classes, m_class_size);
    m_non_isolated = sums[degree_classes];
    m_needs_classes = sums[degree_classes + 1] > 0;
    m_hub_degree = detail::read_back(exec, histogram.data(), "karpos::bfs_workspace: degrees")
                       .threshold(hub_capacity(m_graph), count_degrees<rows>::lowest_counted);
    array<std::uint32_t> const count(Kokkos::view_alloc(exec, "karpos::bfs::hub_count"), 1);
    Kokkos::parallel_for(
        "karpos::bfs::hubs", detail::index_range(exec, m_graph.vertices()),
        list_hubs<rows>{out_rows(), m_hub_degree, state({}, bfs_hooks<>{}).hubs, count.data()});
    m_hub_count = detail::read_back(exec, count.data(), "karpos::bfs_workspace: hubs");
  }

  /// Returns what the steps of a search share, without the results.
  template <class Hooks>
  auto state(bfs_options const& options, Hooks const& hooks) const {
    using namespace detail::bfs;
    search_state<Hooks> s{};
    lay_out(detail::arena(m_memory.data()), m_graph, m_grid.shape(), s);
    if constexpr (tuned::has_team_local_search) {
      s.padded = m_padded.data();
      s.two_hop = m_two_hop.data();
    }
    s.grid_teams = static_cast<std::uint32_t>(m_grid.shape().teams);
    s.vertices = m_graph.vertices();
    s.words = m_words;
    s.in_edges = m_graph.in_column_indices().extent(0);
    s.out = out_rows();
    s.in = in_rows();
    s.in_aligned = reinterpret_cast<std::uintptr_t>(s.in.column) % 16 == 0;
    s.hooks = hooks;
    s.records = m_record.data()->level;
    s.passed_levels = &m_record.data()->passed;
    s.hub_degree = m_hub_degree;
    s.hub_count = m_hub_count;
    if (options.degree_classes)
      s.template set_classes<tuned>(m_class_size);
    else
      s.set_one_class(s.vertices);
    return s;
  }

  Graph m_graph;
  std::uint64_t m_words = 0, m_non_isolated = 0;
  std::uint64_t m_class_size[detail::frontier::degree_classes] = {};
  std::uint64_t m_hub_degree = ~std::uint64_t(0);
  std::uint32_t m_hub_count = 0;
  bool m_needs_classes = false;  // a vertex has too many edges for one lane
  array<std::byte> m_memory;
  array<std::uint32_t> m_isolated;  // in m_memory
  array<detail::bfs::search_record> m_record;
  array<detail::bfs::padded_row> m_padded;
  array<detail::bfs::two_hop_row> m_two_hop;
  device::grid_memory<ExecSpace> m_grid;
};

/// Returns the bytes that a bfs_workspace for this graph allocates.
template <execution_space ExecSpace, class Graph>
std::size_t bfs_workspace_bytes(ExecSpace const& exec, Graph const& graph) {
  return bfs_workspace<ExecSpace, Graph>::bytes_for(exec, graph);
}

}  // namespace karpos
