// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "karpos/detail/graph/frontier/tuning.hpp"
#include "karpos/detail/graph/validate_bfs/checks.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/validate_bfs.hpp"

// The checks of validate_bfs on a rank: those of its vertices, and of their edges to vertices of
// any rank.

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

/// Runs all checks on this rank's vertices. proven: the words of tree.proven, which ranks combine.
/// Collective.
template <class ExecSpace, class Graph, class Tree, class Follow, class Words>
void check_own(karpos::distributed::communicator<ExecSpace> const& ranks, Graph const& graph,
               Tree const& tree, Follow const& follow, Words const& proven) {
  namespace checks = validate_bfs;
  using edges = checks::check_edges<rows_of_rank<Graph>, Tree, Follow>;
  constexpr int width = frontier::tuning<ExecSpace>::validation_width;
  std::uint64_t const first = graph.first(), n = graph.local().vertices();
  auto const& exec = ranks.exec();
  device::held_by_loop<ExecSpace, Tree> const held = device::for_loop<ExecSpace>(tree);
  using held_tree = std::remove_cvref_t<decltype(held)>;
  device::loop_over("karpos::validate_bfs: vertices", exec, n,
                    check_from<checks::check_vertex<held_tree>>{{held}, first});
  device::for_each_tile<width>(
      "karpos::validate_bfs: edges", exec, n,
      check_from<edges>{
          {{graph.local().row_offsets(), first}, graph.local().column_indices(), tree, follow},
          first});
  ranks.all_reduce(proven, karpos::distributed::bit_or{});
  device::loop_over("karpos::validate_bfs: proof", exec, n,
                    check_from<checks::check_proof<held_tree>>{{held}, first});
}

/// Adds up the defects that all ranks have found. Collective.
template <class ExecSpace>
bfs_defects sum_defects(karpos::distributed::communicator<ExecSpace> const& ranks,
                        validate_bfs::defect_counts const& mine) {
  validate_bfs::defect_counts sum;
  for (auto const& d : ranks.all_gather(mine)) {
    for (int k = 0; k < validate_bfs::kinds; ++k) sum.of[k] += d.of[k];
    sum.first_vertex = std::min(sum.first_vertex, d.first_vertex);
  }
  return {sum.of[validate_bfs::sources],    sum.of[validate_bfs::roots],
          sum.of[validate_bfs::distances],  sum.of[validate_bfs::parents],
          sum.of[validate_bfs::tree_edges], sum.of[validate_bfs::levels],
          sum.of[validate_bfs::edges],      sum.first_vertex};
}

}  // namespace karpos::detail::distributed
