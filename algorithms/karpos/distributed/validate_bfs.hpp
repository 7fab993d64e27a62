// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/distributed/bfs_plan.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/detail/graph/frontier/tuning.hpp"
#include "karpos/detail/graph/validate_bfs/checks.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"
#include "karpos/operations.hpp"
#include "karpos/validate_bfs.hpp"

namespace karpos::detail::distributed {

/// The rows of a rank, indexed by the numbers of vertices in the whole graph.
template <class Graph>
struct rows_of_rank {
  using vertex_type = typename Graph::vertex_type;
  using columns_view = typename Graph::columns_view;
  struct offsets_view {
    typename Graph::offsets_view own;
    std::uint64_t first;
    KOKKOS_FUNCTION auto operator()(std::uint64_t v) const { return own(v - first); }
  };
};

/// Runs a check on the vertices from `first` on.
template <class Check>
struct check_from {
  Check check;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { check(first + i); }
  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    check(t, first + i);
  }
};

}  // namespace karpos::detail::distributed

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
///   ranks pass different vertices as `source`; if only some of the ranks that have vertices pass
///   parents; if results do not have one element for each vertex of the rank, are strided, or
///   overlap each other; if the graph is not valid (csr_graph::validate) and not trusted; if there
///   is not enough memory.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          class Source, view_1d Distances, view_1d Parents = Kokkos::View<VertexId*, MemorySpace>,
          class Follow = follow_all>
bfs_defects validate_bfs(communicator<ExecSpace> const& ranks,
                         csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                         Source const& source, Distances const& distances,
                         Parents const& parents = {}, Follow const& follow = {}) {
  namespace d = detail::distributed;
  namespace checks = detail::validate_bfs;
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  detail::user_call const call("distributed::validate_bfs");
  auto const& exec = ranks.exec();
  bool const with_parents = ranks.all_reduce(parents.extent(0) > 0 ? 1 : 0, maximum{}) > 0;
  auto const sources = d::gather_sources<VertexId>(ranks, graph.vertices(), source);
  std::uint64_t const first = graph.first(), own = graph.local().vertices();
  d::run_collectively(ranks, [&] {
    detail::frontier::require_results<VertexId>(exec, distances, parents, with_parents,
                                                "vertices of this rank", own, {});
    graph.validate_unless_trusted(exec);
  });
  auto const all_distances = graph.gather(ranks, distances);
  decltype(graph.gather(ranks, parents)) all_parents;
  if (with_parents) all_parents = graph.gather(ranks, parents);

  std::uint64_t const n = graph.vertices(), words = (n + 31) / 32;
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<std::uint32_t*, memory_space> sets;
  Kokkos::View<checks::defect_counts*, memory_space> counts;
  d::run_collectively(ranks, [&] {
    sets = d::allocate<std::uint32_t>(exec, "karpos::validate_bfs: sets", 2 * words);
    counts = d::allocate<checks::defect_counts>(exec, "karpos::validate_bfs: defects", 1);
  });
  detail::fill("karpos::validate_bfs: sets", exec, sets, 0);
  detail::fill("karpos::validate_bfs: no defects", exec, counts, checks::defect_counts{});
  checks::vertex_set const is_source{sets.data()}, proven{sets.data() + words};
  if constexpr (std::is_integral_v<Source>)
    checks::collect_sources(exec, detail::constant<std::uint64_t>{sources.list.single}, 1, n,
                            is_source);
  else
    checks::collect_sources(exec, sources.views, sources.list.count, n, is_source);

  using tree_type = checks::result_tree<decltype(all_distances), decltype(all_parents)>;
  tree_type const tree{n,         all_distances, all_parents,    with_parents,
                       is_source, proven,        {counts.data()}};
  using edges = checks::check_edges<d::rows_of_rank<graph_type>, tree_type, Follow>;
  device::held_by_loop<ExecSpace, tree_type> const held = device::for_loop<ExecSpace>(tree);
  using held_tree = std::remove_cvref_t<decltype(held)>;
  device::loop_over("karpos::validate_bfs: vertices", exec, own,
                    d::check_from<checks::check_vertex<held_tree>>{{held}, first});
  device::for_each_tile<detail::frontier::tuning<ExecSpace>::validation_width>(
      "karpos::validate_bfs: edges", exec, own,
      d::check_from<edges>{
          {{graph.local().row_offsets(), first}, graph.local().column_indices(), tree, follow},
          first});
  ranks.all_reduce(Kokkos::subview(sets, Kokkos::make_pair(words, 2 * words)), bit_or{});
  device::loop_over("karpos::validate_bfs: proof", exec, own,
                    d::check_from<checks::check_proof<held_tree>>{{held}, first});

  checks::defect_counts sum;
  for (auto const& of_rank : ranks.all_gather(
           detail::read_back(exec, counts.data(), "karpos::validate_bfs: the defects"))) {
    for (int k = 0; k < checks::kinds; ++k) sum.of[k] += of_rank.of[k];
    sum.first_vertex = Kokkos::min(sum.first_vertex, of_rank.first_vertex);
  }
  return {sum.of[checks::sources],    sum.of[checks::roots],
          sum.of[checks::distances],  sum.of[checks::parents],
          sum.of[checks::tree_edges], sum.of[checks::levels],
          sum.of[checks::edges],      sum.first_vertex};
}

}  // namespace karpos::distributed
