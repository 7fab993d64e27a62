// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <stdexcept>

#include "karpos/bfs_options.hpp"
#include "karpos/bfs_workspace.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/bfs/run.hpp"

// Breadth-first search: writes how many edges each vertex is away from a source.
//
//   bfs(exec, graph, source, distances)              one search
//   bfs(exec, workspace, source, distances, …)       many searches of a graph
//   bfs_search::start, bfs_search::report            one search, asynchronous to the host
//
// bfs_options.hpp has the options, the report, and what teams and tiles are; bfs_workspace.hpp the
// memory.
//
// The search is level-synchronous and direction-optimizing. Top-down, the vertices of the frontier
// claim their unvisited neighbours. Bottom-up, each unvisited vertex looks for a visited neighbour
// and stops at the first one. Bottom-up inspects fewer edges if most edges of the frontier lead to
// visited vertices. The papers' terms, and the files of detail/graph/bfs:
//
//   status array          two bitmaps, a bit for each vertex: visited or not (state.hpp)
//   frontier queue        filled without an atomic per vertex: each tile buffers the vertices that
//                         it finds and appends a full buffer by one atomic per degree class
//                         (queue.hpp); or by a scan of the status bitmap, interleaved or blocked
//                         (scan.hpp explains these two orders)
//   thread, warp, CTA,    degree classes: a thread, a tile, a team or the whole grid expands a
//   grid                  vertex, depending on its number of edges (top_down.hpp)
//   bottom-up workflow    over the status bitmap, or over a queue of unvisited vertices
//                         (bottom_up.hpp)
//   hub vertex cache      in each team's scratch: visited hubs, the vertices of highest degree
//                         (bfs_report::hub_degree). Hubs that hash to one entry replace each other.
//                         Enterprise caches hubs of the last level, this cache hubs of all levels
//                         (bottom_up.hpp)
//   local search          while frontiers are narrow: explores several levels before the
//                         grid synchronises, as PASGAL does (local_search.hpp for CPUs,
//                         team_local_search.hpp for GPUs)
//   direction switch      gamma (Enterprise), alpha and beta (Beamer), or an estimate of costs
//                         (plan.hpp)
//
// run.hpp is the loop over the levels: expand, add up the level's totals over the grid, decide. On
// CUDA it runs inside one cooperative kernel. docs/design/bfs_walkthrough.md follows one frontier
// through these files.
//
// Source: Liu, Huang, "Enterprise: Breadth-first graph traversal on GPUs", SC 2015; Beamer,
//   Asanović, Patterson, "Direction-optimizing breadth-first search", SC 2012; Dong, Gu, Sun,
//   Wang, "PASGAL: parallel and scalable graph algorithm library", SPAA 2024.

namespace karpos {

/// Runs searches in the memory of one workspace. A search that is one kernel (CUDA) is asynchronous
/// to the host.
///
/// Copies share the memory of the workspace.
template <execution_space ExecSpace, class Graph>
class bfs_search {
 public:
  using workspace = bfs_workspace<ExecSpace, Graph>;
  using vertex_id = typename Graph::vertex_type;

  bfs_search(ExecSpace const& exec, workspace const& w) : m_exec(exec), m_workspace(w) {}

  /// Starts a search from `source`: one vertex, of any integer type, or a view of several, of the
  /// graph's vertex type. A vertex may occur in the view more than once. An empty view gives 0
  /// levels, and the distance -1 everywhere.
  ///
  /// distances: an std::int32_t for each vertex; unreachable vertices get -1.
  /// parents: an id for each vertex, or a view without elements (a default-constructed one) if they
  /// are not wanted. A source is its own parent; unreachable vertices get VertexId(-1). If a vertex
  /// has several shortest paths, its parent may differ between runs.
  ///
  /// Requires, until report() returns or `exec` is fenced:
  ///   - the views exist, and so does a copy of the workspace, such as the one in this bfs_search;
  ///   - nothing writes the graph, the sources or the results;
  ///   - no search on another execution space instance uses the workspace.
  /// Concurrency: asynchronous to the host if the search is one kernel: on CUDA, unless the driver
  ///   is launch_mode::kernel_per_step. A view of sources makes start wait for `exec` and check
  ///   them; the search itself is still asynchronous. The kernel cannot be started if, for
  ///   instance, its blocks do not all fit on the device. launch_mode::automatic then launches a
  ///   kernel for each step: start blocks, and the report does not say so. Several searches of the
  ///   workspace may be started on `exec` before report(): they run one after another, and report()
  ///   returns what the last one did. If the search is not one kernel, start blocks.
  /// Throws: std::invalid_argument, which leaves results and workspace unchanged: if a source is
  ///   out of range, or sources are a strided view; if distances or parents do not have one element
  ///   for each vertex, are strided, or overlap each other, the sources or the graph; if an option
  ///   is no enumerator; if degree_classes is false and a vertex has 2^27 edges or more; if
  ///   launch_mode::persistent_kernel is chosen and the space has no such kernel, or the kernel
  ///   cannot be started, as when its blocks do not all fit on the device.
  template <class Source, view_1d Distances, view_1d Parents, class Hooks = bfs_hooks<>>
  void start(Source const& source, Distances const& distances, Parents const& parents,
             bfs_options const& options = {}, Hooks const& hooks = {}) const {
    using tuned = detail::bfs::tuning<ExecSpace>;
    detail::user_call const call("bfs_search", "start");
    auto const sources = detail::frontier::checked_sources<vertex_id>(
        "karpos::bfs::check_sources", m_exec, source, m_workspace.m_graph.vertices());
    static_assert(std::is_same_v<typename Distances::value_type, std::int32_t>,
                  "karpos: distances come in a view of std::int32_t, not unsigned: unreachable "
                  "vertices get -1");
    detail::bfs::require_options(options, m_workspace.m_needs_classes);
    auto const& graph = m_workspace.m_graph;
    detail::frontier::require_results<vertex_id>(
        m_exec, distances, parents, parents.extent(0) != 0, "vertices", graph.vertices(),
        detail::memory_of(graph, {sources.template memory<vertex_id>()}));
    auto s = m_workspace.state(options, hooks);
    s.distance = distances.data();
    s.parent = parents.extent(0) == 0 ? nullptr : parents.data();
    Kokkos::Profiling::ScopedRegion const region("karpos::bfs");
    device::run_program<tuned::team_threads, tuned::teams_per_processor>(
        m_exec, options.driver, m_workspace.m_grid,
        detail::bfs::level_loop<decltype(s)>{
            s,
            detail::bfs::plan_of(options, graph.has_transpose(), s.vertices, graph.edges(),
                                 m_workspace.m_non_isolated, s.hub_count),
            sources, m_workspace.m_record.data()});
  }

  /// Waits for `exec`, and returns what the last search in the workspace did, even if another
  /// bfs_search started it.
  ///
  /// Requires: a search was started, on this `exec` or on one that has been fenced since. That is
  ///   not checked: before the first search of the workspace, the report means nothing.
  /// Throws: std::logic_error if the search was stopped because it counted more vertices or levels
  ///   than the graph can have: graph, results or workspace were written meanwhile. Results are
  ///   unspecified then.
  bfs_report report() const {
    detail::user_call const call("bfs_search", "report");
    workspace const& w = m_workspace;
    auto const record = detail::read_back(m_exec, w.m_record.data(), "karpos::bfs: report");
    auto const& sum = record.summary;
    if (sum.failed != 0)
      throw std::logic_error(
          detail::user_call::name() + ": " +
          detail::frontier::stop_message(sum.visited, sum.levels, w.m_graph.vertices()));
    auto r = detail::bfs::report_of(record, w.m_hub_count, w.m_graph.has_transpose());
    r.hub_degree = w.m_hub_degree;
    return r;
  }

 private:
  ExecSpace m_exec;
  workspace m_workspace;
};

/// Searches a graph from `source`, and writes distances, and parents if there is a view of them, as
/// bfs_search::start says. To pass options without parents:
///
///   bfs(exec, workspace, 0, distances, {}, {.direction = bfs_direction::top_down});
///
/// Returns: what was done. Blocks until the search has ended.
/// Complexity: O(vertices + edges) work; bottom-up levels inspect fewer edges.
/// Requires: the graph and the results are not written meanwhile; no vertex is 2^31 - 1 or more
///   edges away, because distances have 32 bits.
/// Memory: a workspace of 12.4 bytes a vertex, or the one passed in.
/// Throws: as bfs_search::start and bfs_search::report.
/// Source: see the top of this file.
template <execution_space ExecSpace, class Graph, class Source, class Distances,
          class Parents = Kokkos::View<typename Graph::vertex_type*, typename Graph::memory_space>,
          class Hooks = bfs_hooks<>>
bfs_report bfs(ExecSpace const& exec, bfs_workspace<ExecSpace, Graph> const& workspace,
               Source const& source, Distances const& distances, Parents const& parents = {},
               bfs_options const& options = {}, Hooks const& hooks = {}) {
  detail::user_call const call("bfs");
  bfs_search const search(exec, workspace);
  search.start(source, distances, parents, options, hooks);
  return search.report();
}

/// Searches a graph as bfs(exec, workspace, …) does, with a workspace for this search alone.
///
/// Throws: also what bfs_workspace throws.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          class Source, class Distances, class Parents = Kokkos::View<VertexId*, MemorySpace>,
          class Hooks = bfs_hooks<>>
bfs_report bfs(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
               Source const& source, Distances const& distances, Parents const& parents = {},
               bfs_options const& options = {}, Hooks const& hooks = {}) {
  detail::user_call const call("bfs");
  return bfs(exec, bfs_workspace(exec, graph), source, distances, parents, options, hooks);
}

}  // namespace karpos
