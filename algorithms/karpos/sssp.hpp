// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/csr_graph.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/sssp/loop.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/sssp_options.hpp"
#include "karpos/sssp_workspace.hpp"

// Shortest paths from one source or several, by weights that are not negative.
//
//   sssp(exec, graph, weights, source, distances)         once
//   sssp(exec, workspace, source, distances, parents, …)  many times on a graph
//
// sssp_options.hpp has the options and the report, sssp_workspace.hpp the memory. Words: a team is
// Kokkos' team, a block on GPUs and one thread on CPUs.
//
// Delta-stepping with a near and a far queue (near-far). Distances are lowered by atomic minimum.
// The thread that lowers a distance queues the vertex: in the near queue if the distance lies in
// the current bucket, else in the far queue, for a later bucket. So when the queues are empty, no
// edge can lower a distance, and distances are those of shortest paths, in whatever order the steps
// ran. A sum of floating-point weights is rounded from the source on, edge by edge: the distance is
// the smallest such sum, as Dijkstra's algorithm finds it. The files, in detail/graph/sssp:
//
//   distance.hpp       distances as unsigned words that compare as the distances do
//   state.hpp          the arrays
//   start.hpp          reset, sources, the split of the far queue
//   relax.hpp          a round of many vertices, divided by degree as in bfs
//                      (detail/graph/bfs/frontier_walk.hpp)
//   bucket_fusion.hpp  a round of few vertices: every team goes several hops by itself
//   pull.hpp           the last part, in graphs whose few hubs have most edges: vertices beyond the
//                      reach (sssp_options::reach) pull their distances
//   loop.hpp           the loop over rounds; on CUDA it runs inside one cooperative kernel
//
// docs/sssp.md explains it with a picture.
//
// Source: Meyer, Sanders, "Delta-stepping: a parallelizable shortest path algorithm", J. Algorithms
//   49, 2003; Davidson, Baxter, Garland, Owens, "Work-efficient parallel GPU methods for
//   single-source shortest paths", IPDPS 2014.

namespace karpos {

namespace detail::sssp {

/// Counts the edges that lead from a vertex with a distance to a vertex without one.
template <class State>
struct count_distance_overflows {
  State s;
  KOKKOS_FUNCTION void operator()(std::uint64_t u, std::uint64_t& count) const {
    auto const infinity = State::traits::infinity();
    if (s.distance[u] == infinity) return;
    for (auto e = s.out.begin(u); e < s.out.end(u); ++e)
      count += State::traits::is_finite(s.weight[e]) &&
                       s.distance[State::local(s.out.column[e])] == infinity
                   ? 1
                   : 0;
  }
};

/// Throws std::range_error if a vertex can be reached, but its distance does not fit the type.
template <class ExecSpace, class State>
void require_in_range(ExecSpace const& exec, State const& s) {
  auto const count = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
      "karpos::sssp::count_distance_overflows", exec, s.vertices,
      count_distance_overflows<State>{s});
  if (count > 0)
    throw std::range_error("karpos: a distance of sssp does not fit the type of the weights (" +
                           std::to_string(count) +
                           " edges lead beyond): use weights of 64 bits, or of floating point");
}

template <class ExecSpace, class VertexId, class Source>
bfs::source_list checked_sources(ExecSpace const& exec, Source const& source, std::uint64_t n) {
  std::string const has = "the graph has " + std::to_string(n);
  if constexpr (std::is_integral_v<Source>) {
    auto const v = static_cast<std::uint64_t>(source);
    if (v >= n)
      reject("source " + std::to_string(source) + " of sssp is no vertex", has,
             "pass a vertex below that");
    return {nullptr, 1, v};
  } else {
    require_reachable<ExecSpace, Source>();
    static_assert(std::is_same_v<typename Source::non_const_value_type, VertexId>,
                  "karpos: sources come in a view of the graph's vertex type");
    require_contiguous("sources of sssp", source);
    auto const count = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::sssp::check_sources", exec, source.extent(0),
        bfs::count_out_of_range<device::held_by_loop<ExecSpace, Source>>{
            device::for_loop<ExecSpace>(source), n});
    if (count > 0)
      reject(std::to_string(count) + " sources of sssp are no vertices", has,
             "pass vertices below that");
    return {source.data(), source.extent(0), 0};
  }
}

/// Access to a workspace, for calls of sssp.
struct workspace_access {
  template <class Workspace>
  static auto const& graph(Workspace const& w) {
    return w.m_graph;
  }
  template <class Workspace>
  static auto const& weights(Workspace const& w) {
    return w.m_weights;
  }
  template <class ExecSpace, class Workspace>
  static auto state(ExecSpace const& exec, Workspace const& w,
                    typename Workspace::weight_type delta, sssp_options const& o) {
    return w.state(exec, delta, o.reach == 0 ? w.reach() : o.reach, o.fusion_hops);
  }
  template <class ExecSpace, class Workspace, class State>
  static sssp_report run(ExecSpace const& exec, Workspace const& w, State const& s,
                         bfs::source_list const& sources, sssp_options const& options) {
    using tuned = tuning<ExecSpace>;
    Kokkos::Profiling::ScopedRegion const region("karpos::sssp");
    device::run_program<tuned::team_threads, tuned::teams_per_processor>(
        exec, options.driver, w.m_grid, round_loop<State>{s, sources, &w.m_fixed.data()->record});
    auto const done = read_back(exec, w.m_fixed.data(), "karpos::sssp: report");
    summary const& r = done.record;
    if (r.failed != 0)
      throw std::logic_error("karpos: sssp was stopped (it comes to no end: round " +
                             std::to_string(r.rounds) + ", bucket " + std::to_string(r.buckets) +
                             ", in a graph of " + std::to_string(s.vertices) +
                             " vertices): pass the weights that the workspace was "
                             "made of, none negative, write nothing meanwhile, or report this");
    if (done.distance_overflowed != 0) require_in_range(exec, s);
    return {static_cast<double>(s.delta), r.buckets, r.rounds, r.fused_rounds, r.vertices,
            r.edges + done.fused_edges,   r.passes};
  }
};

/// Returns the width of a bucket as a weight. Throws std::invalid_argument if it is refused.
template <class Weight>
Weight checked_delta(double requested, double automatic) {
  double const delta = requested == 0 ? automatic : requested;
  constexpr auto max_weight = std::numeric_limits<Weight>::max();
  if (!(delta > 0) || (std::is_integral_v<Weight> && delta < 1))
    reject("delta " + std::to_string(requested) + " of sssp is refused",
           std::is_integral_v<Weight> ? "below 1" : "not above 0", "pass 0 for an automatic one");
  if (delta >= static_cast<double>(max_weight)) return max_weight;
  auto const width = static_cast<Weight>(delta);
  return width > 0 ? width : std::numeric_limits<Weight>::min();
}

}  // namespace detail::sssp

/// Writes the distance of every vertex from `source`: the smallest sum of weights along a path.
/// `source` is one vertex, or a view of several, of the graph's vertex type. A vertex may occur in
/// the view more than once; from an empty view no vertex is reachable.
///
/// distances: a number of the weights' type for each vertex. Unreachable vertices get infinity, or
/// the largest integer; no reachable vertex does.
/// parents: an id for each vertex, or a view without elements if they are not wanted: the vertex
/// before on a shortest path. A source is its own parent; unreachable vertices get VertexId(-1).
/// Parents form no cycle, even with weights of zero. If a vertex has several shortest paths, its
/// parent may differ between runs.
/// An edge of infinite weight is not used. Integers have no infinite weight: leave such edges out.
///
/// Returns: what was done. Blocks.
/// Complexity: O(vertices + edges) times how often a vertex is expanded, in practice once or twice
///   on average. The first call with options.reach may add a pass over all edges.
/// Requires: the graph, the weights and the results are not written meanwhile.
/// Concurrency: one call of a workspace at a time.
/// Memory: none beyond the workspace.
/// Throws: std::invalid_argument, which leaves results and workspace unchanged: if a source is out
///   of range, or sources are a strided view; if distances or parents have another length, are
///   strided, or overlap each other, the sources, the weights or the graph; if the reach is
///   negative or NaN; if delta is negative or NaN, or below 1 for integers; if
///   launch_mode::persistent_kernel is chosen and the space has none, or its blocks do not all fit
///   on the device. std::range_error if a vertex can be reached, but its distance does not fit the
///   type, or is the largest integer: results are unspecified then. std::logic_error if the search
///   was stopped because it did not end, as when weights have become negative since the workspace
///   was made: results are unspecified then.
/// Source: see the top of this file.
template <execution_space ExecSpace, class Graph, class Weight, class Source, class Distances,
          class Parents = Kokkos::View<typename Graph::vertex_type*, typename Graph::memory_space>>
sssp_report sssp(ExecSpace const& exec, sssp_workspace<ExecSpace, Graph, Weight> const& workspace,
                 Source const& source, Distances const& distances, Parents const& parents = {},
                 sssp_options const& options = {}) {
  using vertex_id = typename Graph::vertex_type;
  using namespace detail::sssp;
  static_assert(std::is_same_v<typename Distances::value_type, Weight>,
                "karpos: distances of sssp come in a view of the type of the weights");
  static_assert(std::is_same_v<typename Parents::value_type, vertex_id>,
                "karpos: parents come in a view of the graph's vertex type");
  detail::require_reachable<ExecSpace, Distances, Parents>();
  std::uint64_t const n = workspace_access::graph(workspace).vertices();
  auto const sources = checked_sources<ExecSpace, vertex_id>(exec, source, n);
  detail::require_contiguous("distances of sssp", distances);
  detail::require_contiguous("parents of sssp", parents);
  detail::require_same_extent("distances", distances.extent(0), "vertices", n);
  if (parents.extent(0) != 0)
    detail::require_same_extent("parents", parents.extent(0), "vertices", n);
  auto const& graph = workspace_access::graph(workspace);
  detail::require_apart(
      "a result of sssp", {detail::range_of(distances), detail::range_of(parents)},
      {detail::range_of(workspace_access::weights(workspace)),
       detail::range_of(graph.row_offsets()), detail::range_of(graph.column_indices()),
       sources.template memory<vertex_id>()});
  require_reach(options.reach);
  Weight const delta = checked_delta<Weight>(options.delta, workspace.delta());
  auto s = workspace_access::state(exec, workspace, delta, options);
  s.distance = reinterpret_cast<typename decltype(s)::word*>(distances.data());
  s.parent = parents.extent(0) == 0 ? nullptr : parents.data();
  return workspace_access::run(exec, workspace, s, sources, options);
}

/// Writes distances and parents as sssp(exec, workspace, …) does, with a workspace for this call
/// alone.
///
/// Throws: also what sssp_workspace throws.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d Weights, class Source, class Distances,
          class Parents = Kokkos::View<VertexId*, MemorySpace>>
sssp_report sssp(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                 Weights const& weights, Source const& source, Distances const& distances,
                 Parents const& parents = {}, sssp_options const& options = {}) {
  return sssp(exec, sssp_workspace(exec, graph, weights), source, distances, parents, options);
}

}  // namespace karpos
