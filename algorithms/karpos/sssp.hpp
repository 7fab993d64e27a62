// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/graph/sssp/run.hpp"
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
//   plan.hpp           checks; what weights tell about delta and reach; rows sorted by weight
//   state.hpp          the arrays; distances as unsigned words that compare as the distances do
//   start.hpp          reset, sources, the split of the far queue
//   relax.hpp          a round of many vertices, divided by degree as in bfs
//                      (detail/graph/frontier/frontier_walk.hpp)
//   bucket_fusion.hpp  a round of few vertices: every team goes several hops by itself
//   pull.hpp           the last part, in graphs whose few hubs have most edges: vertices beyond the
//                      reach (sssp_options::reach) pull their distances
//   run.hpp            the loop over rounds; on CUDA it runs inside one cooperative kernel
//
// docs/sssp.md explains it with a picture.
//
// Source: Meyer, Sanders, "Delta-stepping: a parallelizable shortest path algorithm", J. Algorithms
//   49, 2003; Davidson, Baxter, Garland, Owens, "Work-efficient parallel GPU methods for
//   single-source shortest paths", IPDPS 2014.

namespace karpos {

/// Writes the distance of every vertex from `source`: the smallest sum of weights along a path.
/// `source` is one vertex, of any integer type, or a view of several, of the graph's vertex type. A
/// vertex may occur in the view more than once; from an empty view no vertex is reachable.
///
/// distances: a number of the weights' type for each vertex. Unreachable vertices get infinity, or
/// the largest integer; no reachable vertex does.
/// parents: for each vertex the one before it on a shortest path; or a view without elements if
/// they are not wanted. A source is its own parent; unreachable vertices get VertexId(-1). Parents
/// form no cycle, even with weights of zero. If a vertex has several shortest paths, its parent may
/// differ between runs.
/// An edge of infinite weight is not used. Integers have no infinite weight: leave such edges out.
///
/// Returns: what was done. Blocks.
/// Complexity: O(vertices + edges) times how often a vertex is expanded, in practice once or twice
///   on average. The first call with options.reach may add a pass over all edges.
/// Requires: the graph, the weights and the results are not written meanwhile.
/// Concurrency: one call of a workspace at a time.
/// Memory: none beyond the workspace.
/// Throws:
///   - std::invalid_argument, which leaves results and workspace unchanged: if a source is out of
///     range, or sources are a strided view; if distances or parents do not have one element for
///     each vertex, are strided, or overlap each other, the sources, the weights or the graph; if
///     the reach is negative or NaN; if the driver is no enumerator; if delta is negative or NaN,
///     or between 0 and 1 for integers; if launch_mode::persistent_kernel is chosen and the space
///     has no such kernel, or the kernel cannot be started, as when its blocks do not all fit on
///     the device.
///   - std::range_error if the distance of a reachable vertex does not fit the type (a sum becomes
///     infinite, or reaches the largest integer). Results are unspecified then.
///   - std::logic_error if the search was stopped because a bucket took more rounds than any graph
///     needs, as when weights have become negative since the workspace was made. Results are
///     unspecified then.
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
  detail::user_call const call("sssp");
  auto const& graph = workspace_access::graph(workspace);
  std::uint64_t const n = graph.vertices();
  auto const sources = checked_sources<vertex_id>("karpos::sssp::check_sources", exec, source, n);
  require_results<vertex_id>(
      exec, distances, parents, parents.extent(0) != 0, "vertices", n,
      detail::memory_of(graph, {detail::range_of(workspace_access::weights(workspace)),
                                sources.template memory<vertex_id>()}));
  require_options(options);
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
  detail::user_call const call("sssp");
  return sssp(exec, sssp_workspace(exec, graph, weights), source, distances, parents, options);
}

}  // namespace karpos
