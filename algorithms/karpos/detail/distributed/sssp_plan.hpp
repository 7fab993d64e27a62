// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/detail/distributed/local_rows.hpp"
#include "karpos/detail/distributed/search_arguments.hpp"
#include "karpos/detail/graph/sssp/plan.hpp"
#include "karpos/detail/graph/sssp/state.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/sssp_options.hpp"

// Shortest paths over ranks before they run: the arguments on which the ranks agree; the width of a
// bucket by the weights of all ranks; the state on which the steps of detail/graph/sssp run.

namespace karpos::detail::distributed {

/// Arguments of a rank: besides those of every search, what decides about buckets.
struct sssp_arguments : search_arguments {
  double delta;
};

inline void require_options(sssp_options const& o) {
  sssp::require_options(o);
  if (o.reach > 0 && o.reach < Kokkos::Experimental::infinity_v<double>)
    reject("a reach is not for several ranks", "sssp_options::reach is " + std::to_string(o.reach),
           "pass 0 or infinity");
  if (o.driver == launch_mode::persistent_kernel)
    reject("launch_mode::persistent_kernel is not for several ranks",
           "they exchange distances between steps", "choose launch_mode::automatic");
}

/// Message of a rank to another in an exchange; also the totals over all ranks.
struct search_totals {
  std::uint64_t rows;             // listed for the receiver of the message
  std::uint64_t listed;           // for all ranks
  std::uint64_t far_entries;      // of the far queue
  std::uint64_t far_min;          // the least distance that the last split has left there
  std::uint64_t vertices, edges;  // expanded so far
  std::uint64_t unqueued;         // vertices that the last step has counted
  std::uint64_t overflowed;       // whether a distance has exceeded its type
  std::uint64_t failed;           // whether a rank must stop

  void add(search_totals const& other) {
    listed += other.listed;
    far_entries += other.far_entries;
    far_min = std::min(far_min, other.far_min);
    vertices += other.vertices;
    edges += other.edges;
    unqueued += other.unqueued;
    overflowed += other.overflowed;
    failed += other.failed;
  }
};

/// State that the loop keeps over ranks.
template <class Weight>
struct rank_progress_of_sssp : sssp::progress<Weight> {
  search_totals all;                     // of the last exchange
  std::uint64_t vertices_before_bucket;  // of all ranks
  std::uint64_t exchanges;               // in this bucket
  void const* received;                  // rows of other ranks, whose type depends on the rule
  std::uint64_t received_rows;
};

/// Everything that the steps of a search share on a rank.
template <class ExecSpace, class VertexId, class EdgeOffset, class Weight>
struct rank_state_of_sssp : sssp::state<ExecSpace, VertexId, EdgeOffset, Weight> {
  using base = sssp::state<ExecSpace, VertexId, EdgeOffset, Weight>;
  using local_vertex = frontier::local_vertex;
  static constexpr bool over_ranks = true;
  using progress_type = rank_progress_of_sssp<Weight>;

  std::uint64_t first, all_vertices, all_teams;
  std::uint64_t const* begin_of_rank;  // ranks + 1 numbers
  std::int32_t ranks;
  std::uint32_t* listed;  // entries of each rank's list
  std::uint32_t* list_bits;
  local_vertex* list;

  KOKKOS_FUNCTION std::uint64_t first_vertex() const { return first; }
  KOKKOS_FUNCTION std::uint64_t graph_vertices() const { return all_vertices; }
  KOKKOS_FUNCTION std::uint64_t graph_teams() const { return all_teams; }
  KOKKOS_FUNCTION bool owns(local_vertex v) const { return v - first < base::vertices; }
  KOKKOS_FUNCTION int owner(local_vertex v) const {
    int low = 0, high = ranks;  // begin_of_rank[low] <= v < begin_of_rank[high]
    while (high - low > 1) {
      int const middle = (low + high) / 2;
      (begin_of_rank[middle] <= v ? low : high) = middle;
    }
    return low;
  }
  /// Marks a vertex of another rank as listed. Returns: whether the caller must list it.
  KOKKOS_FUNCTION bool mark_for_owner(local_vertex v) const { return base::mark(list_bits, v); }

  template <class Team>
  KOKKOS_FUNCTION void clear_list_lengths(Team const& team) const {
    if (team.league_rank() != 0) return;
    for (int r = static_cast<int>(team.rank()); r < ranks; r += static_cast<int>(team.size()))
      listed[r] = 0;
  }
  template <class Team>
  KOKKOS_FUNCTION void reset_lists(Team& team) const {
    clear_list_lengths(team);
    frontier::for_each_index<base::width>(team, (all_vertices + 31) / 32,
                                          [&](std::uint64_t w) { list_bits[w] = 0; });
  }
};

/// Returns the width of a bucket that all ranks choose by the weights of all. weight_sum, edges:
/// of this rank's rows. draw(n): a sample of n of its weights, of this rank. Collective.
template <class Weight, class ExecSpace, class Graph, class Draw>
double agreed_delta(karpos::distributed::communicator<ExecSpace> const& ranks, Graph const& graph,
                    double weight_sum, std::uint64_t edges, Draw const& draw) {
  double sum = 0;
  for (double const of_rank : ranks.all_gather(weight_sum)) sum += of_rank;
  auto const all_edges = static_cast<double>(graph.edges());
  if (!(sum > 0)) return sssp::usable_delta<Weight>(1);
  auto const share = std::ceil(static_cast<double>(edges) / all_edges *
                               static_cast<double>(sssp::weight_sample::max_size));
  std::vector<double> const mine =
      run_collectively(ranks, [&] { return draw(static_cast<std::uint64_t>(share)).sorted(); });
  auto const counts = ranks.all_gather(std::uint64_t(mine.size()));
  std::vector<double> all(blocks(counts).total);
  ranks.all_gather(unmanaged<Kokkos::HostSpace>(mine.data(), mine.size()),
                   unmanaged<Kokkos::HostSpace>(all.data(), all.size()), counts);
  return sssp::usable_delta<Weight>(sssp::automatic_delta<ExecSpace>(
      sum / all_edges, all_edges / static_cast<double>(graph.vertices()),
      sssp::weight_sample(std::move(all))));
}

}  // namespace karpos::detail::distributed

namespace karpos::detail::sssp {

/// A workspace of a rank's rows searches over ranks.
template <class ExecSpace, class VertexId, class EdgeOffset, class MemorySpace, class Weight>
struct state_for<ExecSpace, distributed::local_rows<VertexId, EdgeOffset, MemorySpace>, Weight> {
  using type = distributed::rank_state_of_sssp<ExecSpace, VertexId, EdgeOffset, Weight>;
};

}  // namespace karpos::detail::sssp
