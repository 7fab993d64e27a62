// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "karpos/bfs.hpp"
#include "karpos/bfs_options.hpp"
#include "karpos/bfs_workspace.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/bfs_exchange.hpp"
#include "karpos/detail/distributed/bfs_plan.hpp"
#include "karpos/detail/distributed/bfs_run.hpp"
#include "karpos/detail/distributed/local_rows.hpp"
#include "karpos/detail/graph/bfs/run.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/device/peers.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"

// Breadth-first search of a graph over ranks.
//
//   auto const graph = distributed::build_csr(ranks, n, sources, targets, {{.symmetrise = true}});
//   distributed::bfs_workspace const workspace(ranks, graph);
//   distributed::bfs(workspace, source, distances, parents);     // of this rank's vertices
//
// One rank searches by karpos::bfs. Of several, each owns a block of vertices: their rows,
// distances and parents. The loop over levels, and its steps, are those of karpos::bfs
// (detail/graph/bfs/run.hpp). In between, ranks tell each other the vertices that they have found,
// as bits or as a list, and add up the totals by which all of them decide alike. If each rank has a
// GPU of its own with peer access (CUDA, up to 8 ranks on one host), the search is one kernel on
// each device, which exchange through each other's memory. If few edges lead from rank to rank,
// narrow levels are found by local searches, in which each rank explores its own vertices.

namespace karpos::distributed {

/// Report of a search, the same on every rank except for bytes_sent and hub_degree. The hubs of a
/// rank are its vertices of more than hub_degree edges; hub_degree is 0 on a rank without vertices.
/// `hubs` counts the hubs of all ranks; hub_cache_hits is 0.
struct bfs_report : karpos::bfs_report {
  std::uint64_t bytes_sent = 0;  ///< by this rank, through the communicator; 0 on one rank
  /// Levels exchanged as lists; levels exchanged as bits. Both 0 in one kernel, and for one rank.
  std::uint32_t lists = 0, bitmaps = 0;
  /// Whether the search was one kernel on each device, which exchange through each other's memory.
  bool one_kernel = false;
};

/// Memory of any number of searches, and what they need to know of a graph in advance.
///
/// Requires: the communicator outlives the workspace; the graph does not change, which is not
///   checked. All ranks make the workspace, and destroy it, together. If an exception destroys it
///   on a rank, that rank's windows (see Memory) stay open until its process ends, and ranks that
///   destroy theirs without an exception wait for ever.
/// Concurrency: one search at a time. Copies share the memory, except memory for parents that was
///   allocated after the copy was made.
/// Memory: on each rank 12.5 bytes for each own vertex, and the fixed bytes of
///   karpos::bfs_workspace. On several ranks, also for each vertex of the whole graph 0.25 bytes
///   for isolated vertices and received lists, and 0.38 for status bitmaps and a list of the
///   vertices that this rank has found. If one kernel spans the devices, bitmaps and list lie in a
///   window (communicator.hpp), rounded up to 2 MiB. From the first search for parents on, each of
///   several ranks has a vertex id for each vertex of the graph; if one kernel spans the devices,
///   for each vertex of the largest block instead.
template <execution_space ExecSpace, class Graph>
class bfs_workspace {
 public:
  using graph_type = Graph;
  using vertex_type = typename Graph::vertex_type;
  using memory_space = typename Graph::memory_space;

  /// Checks the graph unless it is trusted. Collective.
  ///
  /// Throws: collective_error, with what karpos::bfs_workspace throws on a rank.
  bfs_workspace(communicator<ExecSpace> const& ranks, Graph const& graph)
      : m_ranks(&ranks),
        m_graph(graph),
        m_words((graph.vertices() + 31) / 32),
        m_local(detail::distributed::run_collectively(ranks,
                                                      [&] { return make_local(ranks, graph); })) {
    detail::user_call const call(name);
    m_non_isolated = ranks.all_reduce(m_local.m_non_isolated);
    m_hubs = ranks.all_reduce(m_local.m_hub_count);
    if (ranks.size() > 1) {
      prepare_exchange();
      prepare_local_search();
    }
  }

  /// Returns the bytes that this rank allocates, without the rounding up of windows; with_parents:
  /// including those of parents. If the ranks have windows, so that one kernel can span the
  /// devices, parents are counted for such a search: a vertex id for each vertex of the largest
  /// block. A search by messages then allocates a vertex id for each vertex of the graph besides,
  /// which is not counted. If the ranks have no windows, parents are counted for a search by
  /// messages.
  std::size_t bytes(bool with_parents) const {
    std::uint64_t const own_words = (m_graph.local().vertices() + 31) / 32;
    std::size_t const local =
        local_workspace::bytes_for(m_ranks->exec(), detail::distributed::local_rows_of(m_graph));
    if (m_ranks->size() == 1) return local;
    return local + 4 * (5 * m_words + own_words) +
           (with_parents ? (m_windows->is_open() ? max_vertices_of_rank() : m_graph.vertices()) *
                               sizeof(vertex_type)
                         : 0);
  }
  /// Searches as karpos::distributed::bfs does, which calls this.
  template <class Source, view_1d Distances, view_1d Parents, class Hooks>
  bfs_report search(Source const& source, Distances const& distances, Parents const& parents,
                    bfs_options const& options, Hooks const& hooks) const {
    namespace d = detail::distributed;
    auto const& ranks = *m_ranks;
    std::uint64_t const sent = ranks.bytes_sent();
    using loop_type = detail::bfs::level_loop<state_type<Hooks>>;
    auto const agreed = d::agree_on_search<vertex_type>(
        ranks, m_graph, options, source, parents.extent(0) > 0, can_span<loop_type>(options), [&] {
          detail::frontier::require_results<vertex_type>(
              ranks.exec(), distances, parents, parents.extent(0) > 0, "vertices of this rank",
              m_graph.local().vertices(),
              detail::memory_of(d::local_rows_of(m_graph), {d::memory_of_source(source)}));
          d::require_options(options, m_local.m_needs_classes);
        });
    if (ranks.size() == 1)
      return search_alone(source, distances, parents, options, hooks, agreed.in_one_kernel);
    m_exchange.lists = m_exchange.bitmaps = 0;
    auto s =
        state(options, hooks, distances.data(), agreed.with_parents ? parents.data() : nullptr);
    if (agreed.with_parents) add_parent_memory(s, agreed.in_one_kernel);
    auto plan = detail::bfs::plan_of(options, m_graph.has_transpose(), m_graph.vertices(),
                                     m_graph.edges(), m_non_isolated, m_hubs);
    plan.local_search_vertices = m_local_search_vertices;
    auto record = run(loop_type{s, plan, agreed.sources.list, nullptr}, agreed.in_one_kernel);
    if (record.summary.failed != 0)  // on all ranks: their totals are the same
      d::throw_on_all(ranks,
                      detail::frontier::stop_message(record.summary.visited, record.summary.levels,
                                                     m_graph.vertices()));
    d::add_records_of_ranks(ranks, m_local.m_record.data(), record);
    if (s.proposal != nullptr)
      d::complete_parents(ranks, m_graph, parents.data(), m_proposals.data());
    if (!agreed.in_one_kernel) ranks.exec().fence("karpos::distributed::bfs");
    bfs_report r;
    static_cast<karpos::bfs_report&>(r) =
        detail::bfs::report_of(record, m_hubs, m_graph.has_transpose());
    if (m_graph.local().vertices() > 0) r.hub_degree = m_local.m_hub_degree;
    r.bytes_sent = ranks.bytes_sent() - sent;
    r.lists = m_exchange.lists;
    r.bitmaps = m_exchange.bitmaps;
    r.one_kernel = agreed.in_one_kernel;
    return r;
  }

 private:
  using local_graph = decltype(detail::distributed::local_rows_of(std::declval<Graph const&>()));
  using local_workspace = karpos::bfs_workspace<ExecSpace, local_graph>;
  using local_vertex = detail::frontier::local_vertex;
  template <class T>
  using array = Kokkos::View<T*, memory_space>;

  static constexpr char name[] = "distributed::bfs_workspace";

  static local_workspace make_local(communicator<ExecSpace> const& ranks, Graph const& graph) {
    detail::user_call const call(name);
    detail::frontier::require_vertex_count(graph.vertices());
    graph.validate_unless_trusted(ranks.exec());
    return local_workspace(ranks.exec(), detail::distributed::local_rows_of(graph));
  }
  /// Allocates what several ranks exchange, and collects the isolated vertices of all.
  void prepare_exchange() {
    namespace d = detail::distributed;
    auto const& ranks = *m_ranks;
    std::vector<std::uint64_t> word_counts;
    for (std::uint64_t const n : m_graph.counts()) word_counts.push_back((n + 31) / 32);
    d::run_collectively(ranks, [&] {
      m_isolated = status_words();
      m_exchange = d::found_exchange<ExecSpace>(ranks, word_counts);
      if constexpr (spans)
        m_record =
            record_view(Kokkos::view_alloc("karpos::bfs: record", Kokkos::WithoutInitializing));
    });
    if (!open_windows())
      d::run_collectively(ranks, [&] {
        for (auto& bits : m_visited) bits = status_words();
        m_claims = d::allocate<local_vertex>(ranks.exec(), "karpos::bfs: claims", m_words);
      });
    std::uint64_t const own = word_counts[static_cast<std::size_t>(ranks.rank())];
    ranks.all_gather(Kokkos::subview(m_local.m_isolated, Kokkos::make_pair(std::uint64_t(0), own)),
                     m_isolated, word_counts);
  }
  /// Counts the edges between ranks, and allocates what local searches over ranks need.
  void prepare_local_search() {
    namespace d = detail::distributed;
    auto const& exec = m_ranks->exec();
    std::uint64_t const edges = d::run_collectively(*m_ranks, [&] {
      if constexpr (!tuned::has_team_local_search) {
        auto const teams = static_cast<std::size_t>(m_local.m_grid.shape().teams);
        m_list_lengths = d::allocate<std::uint32_t>(exec, "karpos::bfs: lists", 2 * teams);
        m_search_sums = d::allocate<detail::bfs::local_search_totals>(exec, "karpos::bfs: sums", 3);
      }
      return d::edges_to_other_ranks(exec, m_graph.local(), m_graph.first());
    });
    m_local_search_vertices =
        d::most_local_search_vertices(*m_ranks, state({}, bfs_hooks<>{}, nullptr, nullptr), edges);
  }
  array<std::uint32_t> status_words() const {
    return detail::distributed::allocate<std::uint32_t>(m_ranks->exec(), "karpos::bfs: status",
                                                        m_words);
  }
  /// Opens windows for status bitmaps and claims, for the kernels of all devices. Returns: whether
  /// that works. Comes after all that may throw, because all ranks close windows together.
  bool open_windows() {
    std::uint64_t const each = (m_words + 63) / 64 * 64;  // 256 bytes
    m_windows = std::make_shared<windows>(*m_ranks, 3 * each * sizeof(std::uint32_t));
    if (!m_windows->is_open()) return false;
    auto* const data = reinterpret_cast<std::uint32_t*>(m_windows->get().data());
    for (std::uint64_t i = 0; i < 2; ++i)
      m_visited[i] = array<std::uint32_t>(data + i * each, m_words);
    m_claims = array<local_vertex>(data + 2 * each, m_words);
    return true;
  }
  /// Returns the largest number of vertices of a rank: all windows have one size.
  std::uint64_t max_vertices_of_rank() const {
    auto const counts = m_graph.counts();
    return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  }
  /// Gives a state memory for parents that are found top-down: a window if one kernel spans the
  /// devices, else an array of all vertices. The first search for parents allocates it.
  template <class State>
  void add_parent_memory(State& s, bool in_one_kernel) const {
    if (in_one_kernel && m_parent_windows == nullptr)
      m_parent_windows =
          std::make_shared<windows>(*m_ranks, max_vertices_of_rank() * sizeof(vertex_type));
    if (in_one_kernel && m_parent_windows->is_open()) {
      s.parent_window = reinterpret_cast<vertex_type*>(m_parent_windows->get().data());
      s.parent_peers = m_parent_windows->get().distances();
      for (std::size_t r = 0; r + 1 < m_graph.begins().size(); ++r)
        s.begin_of_rank[r] = m_graph.begins()[r];
      return;
    }
    if (m_proposals.extent(0) != m_graph.vertices())  // on all ranks or none
      m_proposals = detail::distributed::run_collectively(*m_ranks, [&] {
        return detail::distributed::allocate<vertex_type>(m_ranks->exec(), "karpos::bfs: proposals",
                                                          m_graph.vertices());
      });
    Kokkos::deep_copy(m_ranks->exec(), m_proposals, detail::distributed::no_source<vertex_type>);
    s.proposal = m_proposals.data();
  }
  template <class Hooks>
  using state_type =
      detail::distributed::rank_state<ExecSpace, vertex_type, typename Graph::offset_type, Hooks>;
  /// Returns what the steps of a search share on this rank. `parents` is null without parents.
  template <class Hooks>
  state_type<Hooks> state(bfs_options const& options, Hooks const& hooks, std::int32_t* distances,
                          vertex_type* parents) const {
    state_type<Hooks> s{};
    static_cast<typename state_type<Hooks>::base&>(s) = m_local.state(options, hooks);
    std::uint64_t const first = m_graph.first();
    s.vertices = m_graph.vertices();
    s.words = m_words;
    s.own_first_word = first / 32;
    s.own_word_count = (m_graph.local().vertices() + 31) / 32;
    s.out.offset -= first;
    if (m_graph.has_transpose()) s.in.offset -= first;
    for (int i = 0; i < 2; ++i) s.visited[i] = m_visited[i].data();
    if constexpr (!tuned::has_team_local_search) {
      s.list_lengths = m_list_lengths.data();
      s.local_search_sums = m_search_sums.data();
    }
    s.claims = m_claims.data();
    s.gathered = m_exchange.gathered();
    s.isolated = m_isolated.data();
    bool const owns = m_graph.local().vertices() > 0;  // else the views may be null
    s.distance = owns ? distances - first : nullptr;
    s.parent = owns && parents != nullptr ? parents - first : nullptr;
    return s;
  }
  template <class Loop>
  bool can_span(bfs_options const& o) const {
    if constexpr (spans)
      return o.driver != launch_mode::kernel_per_step && m_ranks->has_device_of_its_own() &&
             (m_ranks->size() == 1 || m_windows->is_open()) &&
             device::can_span<tuned::team_threads, tuned::teams_per_processor, Loop>(
                 m_ranks->exec(), m_local.m_grid);
    else
      return false;
  }
  /// Searches on one rank, which owns all vertices, as one device does.
  template <class Source, class Distances, class Parents, class Hooks>
  bfs_report search_alone(Source const& source, Distances const& distances, Parents const& parents,
                          bfs_options const& options, Hooks const& hooks,
                          bool in_one_kernel) const {
    bfs_report r;
    static_cast<karpos::bfs_report&>(r) = detail::distributed::run_collectively(*m_ranks, [&] {
      bfs_search<ExecSpace, local_graph> const search(m_ranks->exec(), m_local);
      search.start(source, distances, parents, options, hooks);
      return search.report();
    });
    if (m_graph.vertices() == 0) r.hub_degree = 0;
    r.one_kernel = in_one_kernel;
    return r;
  }
  /// Runs the loop of a search. Returns: its record.
  template <class Loop>
  detail::bfs::search_record run(Loop loop, bool in_one_kernel) const {
    auto const& memory = m_local.m_grid;
    if constexpr (spans) {
      if (in_one_kernel) {
        loop.s.peers = m_windows->get().distances();
        loop.record = m_record.data();
        device::run_spanning<tuned::team_threads, tuned::teams_per_processor>(
            m_ranks->exec(), memory, m_windows->get(), loop);
        m_ranks->exec().fence("karpos::distributed::bfs: searched");
        return *loop.record;
      }
    }
    auto const record = std::make_unique<detail::bfs::search_record>();
    loop.record = record.get();
    detail::distributed::launched_ranks<ExecSpace> grid(
        *m_ranks,
        device::launched_grid<ExecSpace>(m_ranks->exec(), memory.shape(), memory.scratch(),
                                         memory.words()),
        m_exchange);
    typename Loop::shared progress{};
    loop(grid, progress);
    return *record;
  }

  using tuned = detail::bfs::tuning<ExecSpace>;
  static constexpr bool spans = device::spans_devices<ExecSpace>;
  using windows = detail::distributed::windows_of<ExecSpace>;
  using record_view = Kokkos::View<detail::bfs::search_record, Kokkos::SharedHostPinnedSpace>;

  communicator<ExecSpace> const* m_ranks;
  Graph m_graph;
  std::uint64_t m_words;
  local_workspace m_local;
  std::shared_ptr<windows> m_windows;  // declared before the views of this memory
  record_view m_record;                // written by kernels, read by the host
  array<std::uint32_t> m_visited[2], m_isolated;
  array<local_vertex> m_claims;
  array<std::uint32_t> m_list_lengths;  // these two on CPUs; on GPUs m_local has them
  array<detail::bfs::local_search_totals> m_search_sums;
  std::uint64_t m_local_search_vertices = 0;
  mutable std::shared_ptr<windows> m_parent_windows;
  mutable array<vertex_type> m_proposals;
  mutable detail::distributed::found_exchange<ExecSpace> m_exchange;
  std::uint64_t m_non_isolated = 0;
  std::uint32_t m_hubs = 0;
};

/// Searches from `source`: one vertex, the same on every rank, or a view on every rank, which may
/// be empty; the search starts from the vertices of all views. Writes the distances of this rank's
/// vertices; unreachable vertices get -1. If `parents` has elements, also writes parents, as
/// vertices of the whole graph: a source is its own parent, unreachable vertices get VertexId(-1).
/// Distances are those of karpos::bfs. Collective.
///
/// Options: direction, gamma, alpha, beta, degree_classes, driver, local_search_hops.
///   bfs_queue::scanned, hub_cache and unvisited_queue are refused, on one rank too. Hooks:
///   `follow` is called on the rank that owns the edge's source in top-down levels, its target in
///   bottom-up levels; `discovered` is called on the rank that owns the vertex. degree_classes and
///   hooks are not compared between ranks.
///
/// Returns: what was done (bfs_report says which members differ between ranks). Blocks.
/// Complexity: on one rank, as karpos::bfs. On several, as karpos::bfs, divided by the ranks; and
///   for each level an exchange of the vertices that were found (at most one bit for each vertex),
///   and one or two exchanges of totals. In a wide top-down level each rank also reads, from the
///   status bitmaps of all ranks, the words of its own vertices. Up to 64 narrow levels share an
///   exchange if at most one edge for each 128 vertices leads from rank to rank. Other graphs of
///   thousands of levels gain nothing from ranks.
/// Requires: the graph and the results are not written meanwhile.
/// Throws: collective_error on every rank, in these cases. Results are unchanged, unless it is
///   said:
///   - for sources: if one is out of range; if a view of them is strided; if ranks pass different
///     vertices as `source`; if only some ranks pass a view; if there is not enough memory for the
///     views of all ranks;
///   - for results: if distances or parents do not have one element for each vertex of the rank,
///     are strided, or overlap each other, the sources or the graph; if only some of the ranks that
///     have vertices pass parents;
///   - for options: if direction, driver, gamma, alpha, beta or local_search_hops differ between
///     ranks; if an option is no enumerator, or is refused (see Options); if degree_classes is off
///     and a vertex has 2^27 edges or more; if launch_mode::persistent_kernel is chosen and is not
///     available to all ranks;
///   - if there is not enough memory for parents: results are unspecified then;
///   - if the search was stopped as in karpos::bfs_search::report: results are unspecified then.
/// Source: Enterprise (Liu, Huang, SC 2015), section 4.4, for status exchanged as bits; Buluç,
///   Madduri, "Parallel breadth-first search on distributed memory systems", SC 2011.
template <
    execution_space ExecSpace, class Graph, class Source, view_1d Distances,
    view_1d Parents = Kokkos::View<typename Graph::vertex_type*, typename Graph::memory_space>,
    class Hooks = bfs_hooks<>>
bfs_report bfs(bfs_workspace<ExecSpace, Graph> const& workspace, Source const& source,
               Distances const& distances, Parents const& parents = {},
               bfs_options const& options = {}, Hooks const& hooks = {}) {
  static_assert(std::is_same_v<typename Distances::value_type, std::int32_t>,
                "karpos: distances come in a view of std::int32_t, not unsigned: unreachable "
                "vertices get -1");
  Kokkos::Profiling::ScopedRegion const region("karpos::distributed::bfs");
  detail::user_call const call("distributed::bfs");
  return workspace.search(source, distances, parents, options, hooks);
}

/// Searches as above, with a workspace for this search alone. Collective.
///
/// Throws: as bfs(workspace, …), and what bfs_workspace throws.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          class Source, view_1d Distances, view_1d Parents = Kokkos::View<VertexId*, MemorySpace>,
          class Hooks = bfs_hooks<>>
bfs_report bfs(communicator<ExecSpace> const& ranks,
               csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph, Source const& source,
               Distances const& distances, Parents const& parents = {},
               bfs_options const& options = {}, Hooks const& hooks = {}) {
  using workspace = bfs_workspace<ExecSpace, csr_graph<VertexId, EdgeOffset, MemorySpace>>;
  detail::user_call const call("distributed::bfs");
  std::optional<workspace> of_this(std::in_place, ranks, graph);
  try {
    return bfs(*of_this, source, distances, parents, options, hooks);
  } catch (collective_error const&) {
    of_this.reset();  // all ranks destroy it, because all of them have caught this error
    throw;
  }
}

}  // namespace karpos::distributed
