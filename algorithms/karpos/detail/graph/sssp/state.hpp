// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/sssp/tuning.hpp"
#include "karpos/device/atomics.hpp"

// The memory of shortest paths: what each array holds, which step writes it, and when. A tentative
// distance of a vertex is the length of a walk to it. Terms (tile, team, lane, scratch, step): see
// frontier/frontier.hpp.
//
//   distance      the tentative distances, as words; lowered by atomic minimum
//   queue         |near 0|near 1|far 0|far 1|, n entries each. A near queue has a region for each
//                 degree class, like the frontier queue of bfs. A round expands one near queue, and
//                 fills the other near queue and a far queue
//   near_bits[2]  a bitmap for each near queue: the vertices put into it while the other near queue
//                 is expanded, so that no vertex enters it twice. The round that expands a queue
//                 clears its bits. A far queue needs no bitmap: it holds every vertex whose
//                 distance is finite and beyond the bucket, so the thread that writes the first
//                 such distance appends the vertex
//   levels[3]     counters of the near queues; round r has levels[r % 3]. Each step clears the
//                 counters of the round after the next
//   far[3]        counters of the far queues, by number of the split
//   far_min[3]    the smallest distance among the vertices that a split leaves in the far queue
//
// Over several ranks, a rank's state (detail/distributed/sssp_plan.hpp) has distances of all
// vertices of the graph, and the other arrays for its own vertices. Steps name vertices by their
// numbers in the whole graph; rows and near_bits are moved back by the first own vertex. A vertex
// of another rank enters the list of its owner instead of a queue (over_ranks.hpp).
//
// The loop (run.hpp) starts at the sources (start.hpp), and expands the near queue on the whole
// grid (relax.hpp) or, if it is narrow, several hops at a time in teams (bucket_fusion.hpp). If it
// is empty, a split fills it from the far queue. Beyond a reach, vertices pull (pull.hpp).
// Tests: sssp, delta_stepping, stepwise_searches, paths.

namespace karpos::detail::sssp {

using namespace frontier;

template <class T>
concept weight =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    (std::is_integral_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8));

/// Distances as words. Floating-point numbers that are not negative are ordered as their bits are
/// as unsigned integers, so an atomic minimum of words is one of distances, for every type.
template <weight T>
struct distance_traits {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  KOKKOS_FUNCTION static word to_word(T x) { return Kokkos::bit_cast<word>(x); }
  KOKKOS_FUNCTION static T from_word(word w) { return Kokkos::bit_cast<T>(w); }

  /// Returns the word of a weight, ordered as weights are; -0.0 counts as 0.
  KOKKOS_FUNCTION static word of_weight(T w) { return to_word(w == T(0) ? T(0) : w); }

  /// Returns the distance of unreachable vertices: infinity, or the largest integer.
  KOKKOS_FUNCTION static constexpr T infinite_weight() {
    if constexpr (std::is_floating_point_v<T>)
      return Kokkos::Experimental::infinity_v<T>;
    else
      return Kokkos::Experimental::finite_max_v<T>;
  }
  KOKKOS_FUNCTION static word infinity() { return to_word(infinite_weight()); }

  /// Returns the distance at the end of an edge; `infinity` if it exceeds the range of distances.
  /// An edge of infinite weight leads nowhere. Requires: d is below `infinity`, w is not negative.
  KOKKOS_FUNCTION static word plus(word d, T w) {
    if constexpr (std::is_floating_point_v<T>)
      return to_word(from_word(d) + w);
    else
      return static_cast<word>(w) < infinity() - d ? d + static_cast<word>(w) : infinity();
  }
  /// Returns whether an edge of this weight may be followed.
  KOKKOS_FUNCTION static bool is_finite(T w) {
    if constexpr (std::is_floating_point_v<T>)
      return w < infinite_weight();
    else
      return true;
  }
  /// Returns whether a weight is invalid: negative, or not a number.
  KOKKOS_FUNCTION static bool is_invalid([[maybe_unused]] T w) {
    if constexpr (std::is_unsigned_v<T>)
      return false;
    else
      return !(w >= T(0));
  }
};

/// State that the loop keeps: one copy on the host, or one for each team of a cooperative kernel.
template <class Weight>
struct progress {
  using word = typename distance_traits<Weight>::word;
  level_counters frontier;  // of the near queue that is expanded
  // Segments of that queue, and of the next one.
  std::uint32_t head[degree_classes], tail[degree_classes];
  std::uint32_t round, split, far_entries;
  word lower, threshold;  // the bucket: vertices with distances in [lower, threshold) are expanded
  word reach;             // distances from here on are not pushed; they are pulled at the end
  Weight width;           // of the next bucket
  std::uint64_t buckets, fused_rounds, vertices,
      edges;                          // totals; edges without those of fused rounds
  std::uint64_t edges_before_bucket;  // before this bucket
  std::uint32_t passes;               // passes of pulling
  // Probed in all passes but the first; all edges, if that ends pulling.
  std::uint64_t pulled_edges;
  std::uint64_t rounds_of_bucket;  // since the bucket began
  std::uint64_t equal_parents;     // vertices that got a parent at their own distance
  std::uint32_t empty_splits;      // in a row: splits that found no vertex
  bool done, failed, narrow, pulling, lowered;

  KOKKOS_FUNCTION int side() const { return static_cast<int>(round % 2); }
};

/// Counts the edges of a row that are lighter than each of four limits (sorted_rows in plan.hpp).
struct alignas(16) lighter_edges {
  static constexpr int limits = 4;
  std::uint32_t count[limits];
};

/// Summary of a search, which the host reads at the end.
struct summary {
  std::uint64_t rounds, buckets, fused_rounds, vertices, edges, passes;
  // Nonzero: stopped, because it ran longer than it can without a fault (run.hpp).
  std::uint64_t failed;
};

/// The part of a workspace that does not depend on the graph.
struct fixed_memory {
  level_counters levels[3], far[3];
  std::uint64_t far_min[3];          // 64 bits in every weight type: a grid reads it
  std::uint64_t fused_edges;         // probed in fused rounds
  std::uint64_t last_lowering_pass;  // number of the last pass that lowered a distance by pulling
  summary record;
  std::uint32_t distance_overflowed;  // whether a length exceeded the range of distances
  std::uint32_t unused;
};

template <class ExecSpace, class VertexId, class EdgeOffset, class Weight>
struct state : frontier_queue {
  using execution_space = ExecSpace;
  using vertex_id = VertexId;
  using weight_type = Weight;
  using tuned = tuning<ExecSpace>;
  using traits = distance_traits<Weight>;
  using word = typename traits::word;
  /// A rank's state sets it, and hides functions of this class.
  static constexpr bool over_ranks = false;
  using progress_type = progress<Weight>;
  static constexpr int width = tuned::tile_width;
  using tile = device::tile_for<ExecSpace, width>;
  using edge = typename rows<VertexId, EdgeOffset>::edge;
  static constexpr VertexId no_parent = static_cast<VertexId>(-1);

  std::uint64_t vertices, words, edges;
  rows<VertexId, EdgeOffset> out;
  Weight const* weight;
  lighter_edges const* lighter;  // of each row, if rows are in order of weight; else null
  Kokkos::Array<Weight, lighter_edges::limits> lighter_than;
  word* distance;
  VertexId* parent;  // null: no parents are asked for
  Weight delta;
  Weight reach;  // measured from the hubs; infinite_weight(): everything is pushed
  std::uint32_t fusion_hops;

  std::uint32_t* near_bits[2];
  fixed_memory* fixed;
  std::uint32_t teams;

  /// Return the first of this device's vertices, and the sizes of the whole graph and grid.
  KOKKOS_FUNCTION static constexpr std::uint64_t first_vertex() { return 0; }
  KOKKOS_FUNCTION std::uint64_t graph_vertices() const { return vertices; }
  KOKKOS_FUNCTION std::uint64_t graph_teams() const { return teams; }

  KOKKOS_FUNCTION static local_vertex local(VertexId v) { return static_cast<local_vertex>(v); }
  KOKKOS_FUNCTION static VertexId global(local_vertex v) { return static_cast<VertexId>(v); }

  /// If rows are in order of weight, the class depends on the edges that are usually probed. A row
  /// may then be up to max_length_factor times longer than its class allows.
  static constexpr std::uint64_t max_length_factor = 16;
  using frontier_queue::class_of;
  KOKKOS_FUNCTION int class_of(local_vertex v, std::uint64_t degree) const {
    return class_of(probed_degree(v, degree));
  }
  KOKKOS_FUNCTION std::uint64_t probed_degree(local_vertex v, std::uint64_t degree) const {
    if (lighter == nullptr) return degree;
    std::uint64_t const light = lighter[v].count[lighter_edges::limits - 1];
    return Kokkos::max(light, degree / max_length_factor);
  }

  KOKKOS_FUNCTION level_counters& counters(std::uint32_t round) const {
    return fixed->levels[round % 3];
  }
  KOKKOS_FUNCTION level_counters& far_counters(std::uint32_t split) const {
    return fixed->far[split % 3];
  }
  KOKKOS_FUNCTION local_vertex* far_queue(std::uint32_t split) const {
    return queue + (2 + split % 2) * vertices;
  }
  KOKKOS_FUNCTION std::uint32_t* near(int side) const {
    return side == 0 ? near_bits[0] : near_bits[1];
  }

  /// Clears the counters of later steps. Every step calls it first.
  template <class Team>
  KOKKOS_FUNCTION void clear_next(Team const& team, progress<Weight> const& p) const {
    if (team.league_rank() != 0 || team.rank() != 0) return;
    counters(p.round + 2) = level_counters{};
    far_counters(p.split + 2) = level_counters{};
    fixed->far_min[(p.split + 2) % 3] = traits::infinity();
  }

  /// Sets a bit in a bitmap in which no step clears bits now. Returns: whether it was not set.
  KOKKOS_FUNCTION static bool mark(std::uint32_t* bits, local_vertex v) {
    if ((device::load_cached(bits + v / 32) & bit_of(v)) != 0) return false;
    return (device::fetch_or(bits + v / 32, bit_of(v)) & bit_of(v)) == 0;
  }
  KOKKOS_FUNCTION static void unmark(std::uint32_t* bits, local_vertex v) {
    device::clear_bits(bits + v / 32, bit_of(v));
  }

  /// Returns how many first edges of a row may lead from a distance >= `base` to one < `bound`.
  KOKKOS_FUNCTION std::uint32_t edges_below(local_vertex v, std::uint32_t degree, word base,
                                            word bound) const {
    // To detect sums that exceed the range of distances, all edges must be probed.
    if (lighter == nullptr || bound == traits::infinity()) return degree;
    lighter_edges const row = lighter[v];
    for (int i = 0; i < lighter_edges::limits; ++i)
      if (traits::plus(base, lighter_than[i]) >= bound) return row.count[i];
    return degree;
  }

  /// Returns the distance at the end of edge e, from a vertex at distance d.
  KOKKOS_FUNCTION word distance_via(word d, edge e) const { return add_weight(d, weight[e]); }
  /// Returns the distance at the end of an edge of weight w; reports if it exceeds the range.
  KOKKOS_FUNCTION word add_weight(word d, Weight w) const {
    word const to = traits::plus(d, w);
    if (to == traits::infinity() && traits::is_finite(w))
      device::store_relaxed(&fixed->distance_overflowed, 1u);
    return to;
  }
};

struct workspace_access;  // access to a workspace, for calls of sssp

template <class State>
using progress_of = typename State::progress_type;

/// The state in which a workspace of a graph searches. detail/distributed/sssp_plan.hpp specialises
/// it for the rows of a rank.
template <class ExecSpace, class Graph, class Weight>
struct state_for {
  using type = state<ExecSpace, typename Graph::vertex_type, typename Graph::offset_type, Weight>;
};

}  // namespace karpos::detail::sssp
