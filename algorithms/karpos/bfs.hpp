// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "karpos/csr_graph.hpp"
#include "karpos/detail/bfs/workspace.hpp"

// Breadth-first search: how many edges every vertex is away from a source.
//
// Level by level, from the sources outwards. A top-down level lets the frontier look for unvisited neighbours, a
// bottom-up level lets unvisited vertices look for a visited neighbour; the second is the cheaper way when most
// edges of the frontier lead to visited vertices. Three techniques of Enterprise, each in a file of detail/bfs:
//
//   queue.hpp, scan.hpp   a queue of the frontier without duplicates and without an atomic per vertex
//   top_down.hpp          vertices of a low degree are expanded by a thread, of higher ones by a tile, a team, the grid
//   hubs.hpp              hubs say when to turn, and a cache of visited hubs ends bottom-up searches
//
// program.hpp is the loop over the levels. On CUDA it runs inside of one kernel.
//
// Source: Liu, Huang, "Enterprise: Breadth-first graph traversal on GPUs", SC 2015; Beamer, Asanović, Patterson,
// "Direction-optimizing breadth-first search", SC 2012.

namespace karpos {

/// How the next frontier comes into the queue.
enum class bfs_queue {
  automatic,  ///< the one that measures best: collected
  collected,  ///< tiles collect what they find in bins and place full bins
  scanned     ///< the bitmap is scanned, prefix sums place what is found (Enterprise)
};

/// Choices of a search. Results do not depend on them, but for which of several shortest paths `parents` shows.
struct bfs_options {
  bfs_direction direction = bfs_direction::automatic;
  bfs_queue queue = bfs_queue::automatic;
  /// Expand vertices by degree class; off: every vertex by one lane.
  bool degree_classes = true;
  /// End bottom-up searches by a cache of visited hubs.
  bool hub_cache = false;
  /// Bottom-up over a shrinking queue of unvisited vertices; off: over the bitmap.
  bool unvisited_queue = false;
  double gamma = 0.3;            ///< share of all hubs (bfs_direction::gamma)
  double alpha = 15, beta = 18;  ///< of bfs_direction::beamer
  launch_mode driver = launch_mode::automatic;
};

/// One level of a search.
struct bfs_level {
  std::uint64_t vertices;  ///< found at this distance
  std::uint64_t edges;     ///< looked at to find the next level
  std::uint32_t hubs;      ///< among the vertices, where they stood in the queue
  bool bottom_up;          ///< how the next level was found
};

/// What a search did.
struct bfs_report {
  std::int32_t levels = 0;    ///< distances that occur: the largest is levels - 1
  std::uint64_t visited = 0;  ///< vertices with a distance, sources included
  std::uint64_t edges_top_down = 0, edges_bottom_up = 0;  ///< looked at
  std::int32_t turned_up = -1,
               turned_down =
                   -1;  ///< first level expanded bottom-up, and top-down after it; -1: none
  std::uint64_t hub_cache_hits = 0;
  std::uint64_t hub_degree = 0;      ///< vertices with more edges are hubs
  std::uint32_t hubs = 0;            ///< how many there are
  bool bottom_up_available = false;  ///< the graph is undirected, or has its transpose
  std::vector<bfs_level> level;      ///< the first 1,024
};

/// Follows every edge.
struct follow_all {
  template <class VertexId>
  KOKKOS_FUNCTION bool operator()(VertexId, VertexId) const {
    return true;
  }
};
/// Does nothing when a vertex is discovered.
struct ignore_discovery {
  template <class VertexId>
  KOKKOS_FUNCTION void operator()(VertexId, std::int32_t) const {}
};

/// Functors that a search calls in its kernels.
///   follow(u, v)           whether the edge from u to v may be used; the same answer at every call
///   discovered(v, level)   called once for every vertex found, sources included; many run at the same time
template <class Follow = follow_all, class Discovered = ignore_discovery>
struct bfs_hooks {
  Follow follow = {};
  Discovered discovered = {};
};

/// Searches of one workspace. bfs() below is this in one call.
template <execution_space ExecSpace, class Graph>
class bfs_search {
 public:
  using workspace = bfs_workspace<ExecSpace, Graph>;
  using vertex = typename Graph::vertex_type;

  bfs_search(ExecSpace const& exec, workspace const& w) : m_exec(exec), m_workspace(w) {}

  /// Starts a search from one vertex. distances: n numbers of 32 bits, -1 where no path leads. parents: n vertex ids,
  /// or a view without elements for none; a source is its own parent, -1 stands where no path leads.
  /// Throws: std::invalid_argument for a source that is no vertex, or views of another length.
  /// Concurrency: asynchronous to the host where the search is one kernel (CUDA); otherwise it waits.
  template <view_1d Distances, view_1d Parents, class Hooks = bfs_hooks<>>
  void start(std::uint64_t source, Distances const& distances, Parents const& parents,
             bfs_options const& options = {}, Hooks const& hooks = {}) const {
    std::uint64_t const n = m_workspace.m_graph.vertices();
    if (source >= n)
      detail::reject("source " + std::to_string(source) + " of a search is no vertex",
                     "the graph has " + std::to_string(n), "pass a vertex below that");
    run({nullptr, 1, source}, distances, parents, options, hooks);
  }
  /// The same from several vertices at once; a vertex may occur more than once.
  template <view_1d Sources, view_1d Distances, view_1d Parents, class Hooks = bfs_hooks<>>
  void start(Sources const& sources, Distances const& distances, Parents const& parents,
             bfs_options const& options = {}, Hooks const& hooks = {}) const {
    detail::require_reachable<ExecSpace, Sources>();
    static_assert(std::is_same_v<typename Sources::non_const_value_type, vertex>,
                  "karpos: sources come in a view of the graph's vertex type");
    check_sources(sources);
    run({sources.data(), sources.extent(0), 0}, distances, parents, options, hooks);
  }

  /// What the last search did. Waits for it. Requires: one was started.
  bfs_report report() const;

 private:
  template <class View>
  static void require_contiguous(char const* what, View const& view) {
    if (!view.span_is_contiguous())
      detail::reject(std::string(what) + " of a search do not lie side by side", "a strided view",
                     "pass a contiguous one");
  }
  template <class Sources>
  void check_sources(Sources const& sources) const;
  template <class Distances, class Parents, class Hooks>
  void run(detail::bfs::source_list const& sources, Distances const& distances,
           Parents const& parents, bfs_options const& options, Hooks const& hooks) const;
  template <class Hooks>
  auto state(bfs_options const& options, Hooks const& hooks) const;

  ExecSpace m_exec;
  workspace m_workspace;
};

/// Searches a graph from `source`: one vertex, or a view of several. Writes the distance of every vertex, -1 where no
/// path leads, and, if `parents` are asked for, a parent one level nearer (a source is its own).
///
/// Returns: what was done; so it waits for the search.
/// Complexity: O(vertices + edges) work; bottom-up levels look at fewer edges.
/// Requires: nobody writes the graph or the results meanwhile.
/// Memory: a workspace of 12.4 bytes a vertex, or the one passed in.
/// Throws: std::invalid_argument for a source that is no vertex, or views of another length.
/// Source: see the top of this file.
template <execution_space ExecSpace, class Graph, class Source, class Distances,
          class Parents = Kokkos::View<typename Graph::vertex_type*, typename Graph::memory_space>,
          class Hooks = bfs_hooks<>>
bfs_report bfs(ExecSpace const& exec, bfs_workspace<ExecSpace, Graph> const& workspace,
               Source const& source, Distances const& distances, Parents const& parents = {},
               bfs_options const& options = {}, Hooks const& hooks = {}) {
  bfs_search<ExecSpace, Graph> const search(exec, workspace);
  if constexpr (std::is_integral_v<Source>)
    search.start(static_cast<std::uint64_t>(source), distances, parents, options, hooks);
  else
    search.start(source, distances, parents, options, hooks);
  return search.report();
}

/// The same with a workspace for this search alone.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          class Source, class Distances, class Parents = Kokkos::View<VertexId*, MemorySpace>,
          class Hooks = bfs_hooks<>>
bfs_report bfs(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
               Source const& source, Distances const& distances, Parents const& parents = {},
               bfs_options const& options = {}, Hooks const& hooks = {}) {
  return bfs(exec, bfs_workspace(exec, graph), source, distances, parents, options, hooks);
}

// What follows is how.

template <execution_space ExecSpace, class Graph>
template <class Sources>
void bfs_search<ExecSpace, Graph>::check_sources(Sources const& sources) const {
  require_contiguous("sources", sources);
  auto const n = m_workspace.m_graph.vertices();
  std::uint64_t bad = 0;
  Kokkos::parallel_reduce("karpos::bfs::check_sources", workspace::range(m_exec, sources.extent(0)),
                          detail::bfs::count_strangers<Sources>{sources, n}, bad);
  if (bad > 0)
    detail::reject(std::to_string(bad) + " sources of a search are no vertices",
                   "the graph has " + std::to_string(n), "pass vertices below that");
}

template <execution_space ExecSpace, class Graph>
template <class Hooks>
auto bfs_search<ExecSpace, Graph>::state(bfs_options const& options, Hooks const& hooks) const {
  using namespace detail::bfs;
  workspace const& w = m_workspace;
  search_state<ExecSpace, vertex, typename Graph::offset_type, Hooks> s{};
  s.vertices = w.m_graph.vertices();
  s.words = w.m_words;
  s.edges = w.m_graph.edges();
  s.reachable = w.m_reachable;
  s.out = w.out_rows();
  s.in = w.in_rows();
  s.in_aligned = reinterpret_cast<std::uintptr_t>(s.in.column) % 16 == 0;
  s.hooks = hooks;
  s.isolated = w.m_isolated.data();
  s.queue = w.m_queue.data();
  for (int i = 0; i < 2; ++i) {
    s.visited[i] = w.m_visited[i].data();
    s.candidates[i] = w.m_candidates[i].data();
  }
  s.levels = w.m_levels.data();
  s.part_counts = w.m_parts.data();
  s.hub_degree = w.m_hub_degree;
  s.hubs = w.m_hubs.data();
  s.hub_count = w.m_hub_count;
  using tuned = detail::bfs::tuning<ExecSpace>;
  std::uint64_t const limits[] = {tuned::tile_degree, tuned::team_degree, tuned::grid_degree};
  for (int c = 1; c < degree_classes; ++c) {
    s.class_limit[c - 1] = options.degree_classes ? limits[c - 1] : ~std::uint64_t(0);
    s.class_begin[c] =
        options.degree_classes ? s.class_begin[c - 1] + w.m_class_size[c - 1] : s.vertices;
  }
  return s;
}

template <execution_space ExecSpace, class Graph>
template <class Distances, class Parents, class Hooks>
void bfs_search<ExecSpace, Graph>::run(detail::bfs::source_list const& sources,
                                       Distances const& distances, Parents const& parents,
                                       bfs_options const& options, Hooks const& hooks) const {
  using namespace detail::bfs;
  detail::require_reachable<ExecSpace, Distances, Parents>();
  static_assert(std::is_same_v<typename Distances::value_type, std::int32_t>,
                "karpos: distances come in a view of std::int32_t");
  static_assert(std::is_same_v<typename Parents::value_type, vertex>,
                "karpos: parents come in a view of the graph's vertex type");
  Graph const& g = m_workspace.m_graph;
  require_contiguous("distances", distances);
  require_contiguous("parents", parents);
  if (!options.degree_classes && m_workspace.m_needs_classes)
    detail::reject("bfs without degree classes", "a vertex has 2^27 edges or more",
                   "leave degree_classes on");
  detail::require_same_extent("distances", distances.extent(0), "vertices", g.vertices());
  if (parents.extent(0) != 0)
    detail::require_same_extent("parents", parents.extent(0), "vertices", g.vertices());
  using tuned = detail::bfs::tuning<ExecSpace>;
  auto s = state(options, hooks);
  s.distance = distances.data();
  s.parent = parents.extent(0) == 0 ? nullptr : parents.data();
  search_plan const plan{g.has_transpose() ? options.direction : bfs_direction::top_down,
                         options.queue == bfs_queue::scanned,
                         options.unvisited_queue,
                         options.hub_cache && m_workspace.m_hub_count > 0,
                         options.gamma,
                         options.alpha,
                         options.beta,
                         s.vertices,
                         s.words,
                         m_workspace.m_hub_count};
  Kokkos::Profiling::ScopedRegion const region("karpos::bfs");
  device::run_program<tuned::team_threads, tuned::teams_per_processor>(
      m_exec, options.driver, m_workspace.m_grid,
      search_program<decltype(s)>{s, plan, sources, m_workspace.m_record.data()});
}

template <execution_space ExecSpace, class Graph>
bfs_report bfs_search<ExecSpace, Graph>::report() const {
  using namespace detail::bfs;
  workspace const& w = m_workspace;
  search_record record;
  Kokkos::deep_copy(
      m_exec, Kokkos::View<search_record*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&record, 1),
      w.m_record);
  m_exec.fence("karpos::bfs: report");
  search_summary const& sum = record.summary;
  bfs_report r;
  r.levels = sum.levels;
  r.visited = sum.visited;
  r.edges_top_down = sum.edges_down;
  r.edges_bottom_up = sum.edges_up;
  r.turned_up = sum.first_up;
  r.turned_down = sum.first_down;
  r.hub_cache_hits = sum.hub_hits;
  r.hub_degree = w.m_hub_degree;
  r.hubs = w.m_hub_count;
  r.bottom_up_available = w.m_graph.has_transpose();
  for (std::int32_t l = 0; l < r.levels && l < recorded_levels; ++l) {
    level_record const& from = record.level[l];
    r.level.push_back({from.vertices, from.edges, from.hubs, from.up != 0});
  }
  return r;
}

}  // namespace karpos
