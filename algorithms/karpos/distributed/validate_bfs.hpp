// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/bfs_arguments.hpp"
#include "karpos/detail/distributed/bfs_checks.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"
#include "karpos/validate_bfs.hpp"

namespace karpos::distributed {

/// Checks what a search over ranks has found, as karpos::validate_bfs does on one device, edges
/// between ranks included: each rank checks its vertices and their edges. `source` is as in bfs;
/// `distances` and `parents` are those of this rank's vertices. Collective.
///
/// Returns: the defects of all ranks, the same on each; valid() if there are none.
/// Complexity: every edge once, on one rank; distances and parents of all vertices are gathered.
/// Requires: either all ranks pass one vertex, or all pass a view of sources.
/// Memory: on every rank a distance, a parent and two bits for each vertex of the whole graph, and
///   all sources.
/// Throws: collective_error on every rank if sources are out of range, or in a strided view; if
///   ranks pass different vertices as `source`, or if only some pass parents; if results have
///   another length, are strided, or overlap each other; if the graph is not valid
///   (csr_graph::validate) and not trusted; if there is not enough memory.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          class Source, view_1d Distances, view_1d Parents = Kokkos::View<VertexId*, MemorySpace>,
          class Follow = follow_all>
bfs_defects validate_bfs(communicator<ExecSpace> const& ranks,
                         csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                         Source const& source, Distances const& distances,
                         Parents const& parents = {}, Follow const& follow = {}) {
  namespace d = detail::distributed;
  namespace checks = detail::validate_bfs;
  bool const with_parents = ranks.all_reduce(parents.extent(0) > 0 ? 1 : 0, maximum{}) > 0;
  auto const all_sources = d::gather_sources<VertexId>(ranks, graph.vertices(), source);
  auto const sources = d::run_collectively(ranks, [&] {
    detail::frontier::require_results<VertexId>("a search", ranks.exec(), distances, parents,
                                                with_parents, "vertices of this rank",
                                                graph.local().vertices(), {});
    graph.validate_unless_trusted(ranks.exec());
    return all_sources.in_view(ranks.exec());
  });
  auto const all_distances = graph.gather(ranks, distances);
  decltype(graph.gather(ranks, parents)) all_parents;
  if (with_parents) all_parents = graph.gather(ranks, parents);

  std::uint64_t const n = graph.vertices(), words = (n + 31) / 32;
  auto const& exec = ranks.exec();
  using memory_space = typename ExecSpace::memory_space;
  using counts_view = Kokkos::View<checks::defect_counts*, memory_space>;
  auto const sets = d::run_collectively(ranks, [&] {
    return d::allocate<std::uint32_t>(exec, "karpos::validate_bfs: sets", 2 * words);
  });
  detail::fill("karpos::validate_bfs: sets", exec, sets, 0);
  counts_view const counts = d::run_collectively(ranks, [&] {
    return counts_view(Kokkos::view_alloc(exec, "karpos::validate_bfs: defects"), 1);
  });
  detail::fill("karpos::validate_bfs: no defects", exec, counts, checks::defect_counts{});
  checks::vertex_set const is_source{sets.data()}, proven{sets.data() + words};
  checks::collect_sources(exec, sources, sources.extent(0), n, is_source);
  checks::result_tree<decltype(all_distances), decltype(all_parents)> const tree{
      n, all_distances, all_parents, with_parents, is_source, proven, {counts.data()}};
  d::check_own(ranks, graph, tree, follow,
               Kokkos::subview(sets, Kokkos::make_pair(words, 2 * words)));
  return d::sum_defects(
      ranks, detail::read_back(exec, counts.data(), "karpos::validate_bfs: the defects"));
}

}  // namespace karpos::distributed
