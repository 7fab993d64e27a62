// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/bfs/state.hpp"
#include "karpos/detail/sssp/label.hpp"
#include "karpos/detail/sssp/tuning.hpp"
#include "karpos/device/atomics.hpp"

// The memory of shortest paths: what each array holds, which step writes it, and when.
//
//   label         the distances, as words: lengths of walks, lowered by atomic minimum
//   queue         |near 0|near 1|far 0|far 1|, n entries each. A near queue has a region for each degree class, as the
//                 frontier queue of bfs. A round expands one near queue and fills the other one, and a far queue
//   near_bits[2]  of each near queue: a bit for each vertex that has been put into it while the other one is expanded, so
//                 that none enters twice. The round that expands a queue clears its bits
//                 A far queue needs none: a vertex is in it as long as its label is a length beyond the bucket, so that
//                 whoever gives it its first label puts it there
//   levels[3]     counters of the near queues, those of round r in levels[r % 3]; each step clears the next but one
//   far[3]        the same for the far queues, by number of the split
//   far_min[3]    the smallest label of those that a split leaves in the far queue

namespace karpos::detail::sssp {

using bfs::bit_of;
using bfs::degree_classes;
using bfs::level_counters;
using bfs::local_vertex;

/// What the loop remembers: one copy on the host, or one for each team of a cooperative kernel.
template <class Weight>
struct progress {
  using word = typename label_of<Weight>::word;
  level_counters frontier;                                   // of the near queue that is expanded
  std::uint32_t head[degree_classes], tail[degree_classes];  // of that queue, and of the next one
  std::uint32_t round, split, far_entries;
  word lower, threshold;  // the bucket: vertices with labels in between are expanded
  word reach;             // labels from here on are not pushed, but pulled at the end
  Weight width;           // of the next one
  std::uint64_t buckets, windows, vertices, edges;  // totals; edges without those of windows
  std::uint64_t edges_before;                       // this bucket
  std::uint32_t passes;                             // over what is pulled
  std::uint64_t pulled_edges;                       // looked at in the later ones of these
  std::uint64_t rounds_of_bucket;                   // see round_loop
  std::uint64_t equals;       // vertices that were given a parent at their own distance
  std::uint32_t vain_splits;  // in a row
  bool done, failed, narrow, pulls, lowered;

  KOKKOS_FUNCTION int side() const { return static_cast<int>(round % 2); }
};

/// How many edges of a row are lighter than each of some limits; of rows in order of weight (sorted_rows.hpp).
struct alignas(16) lighter_edges {
  static constexpr int limits = 4;
  std::uint32_t count[limits];
};

/// What the host reads at the end.
struct summary {
  std::uint64_t rounds, buckets, windows, vertices, edges, passes;
  std::uint64_t failed;  // 1: stopped, for it went on for longer than it could
};

template <class ExecSpace, class VertexId, class EdgeOffset, class Weight>
struct state {
  using execution_space = ExecSpace;
  using vertex_id = VertexId;
  using weight_type = Weight;
  using tuned = tuning<ExecSpace>;
  using labels = label_of<Weight>;
  using word = typename labels::word;
  static constexpr int width = tuned::tile_width;
  using tile = device::tile_for<ExecSpace, width>;
  using edge = typename bfs::rows<VertexId, EdgeOffset>::edge;
  static constexpr VertexId no_parent = static_cast<VertexId>(-1);

  std::uint64_t vertices, words, edges;
  bfs::rows<VertexId, EdgeOffset> out;
  Weight const* weight;
  lighter_edges const* lighter;  // of each row, where rows are in order of weight; else null
  Kokkos::Array<Weight, lighter_edges::limits> lighter_than;
  word* label;
  VertexId* parent;  // null: not asked for
  Weight delta;
  Weight reach;  // from the hubs on; the largest weight: everything is pushed
  std::uint32_t window_hops;

  local_vertex* queue;
  std::uint32_t* near_bits[2];
  level_counters *levels, *far;
  std::uint64_t* far_min;       // wide, so that a grid can read it
  std::uint64_t* window_edges;  // looked at in windows
  std::uint64_t* last_lowered;  // number of the last pass that lowered a label by pulling
  std::uint32_t* too_far;       // whether a length has left the range of distances
  std::uint32_t teams;

  std::uint64_t class_limit[degree_classes - 1], class_begin[degree_classes];
  std::uint64_t hub_degree;  // above every degree: there are no hubs here

  KOKKOS_FUNCTION static local_vertex local(VertexId v) { return static_cast<local_vertex>(v); }
  KOKKOS_FUNCTION static VertexId global(local_vertex v) { return static_cast<VertexId>(v); }
  KOKKOS_FUNCTION int class_of(std::uint64_t degree) const {
    int c = 0;
    for (int i = 0; i < degree_classes - 1; ++i) c += degree >= class_limit[i] ? 1 : 0;
    return c;
  }

  /// Where rows are in order of weight, the class goes by the edges that are looked at as a rule, and a row is expanded by its
  /// class even where it is up to so many times longer.
  static constexpr std::uint64_t longest_of_class = 16;
  KOKKOS_FUNCTION int class_of(local_vertex v, std::uint64_t degree) const {
    if (lighter == nullptr) return class_of(degree);
    std::uint64_t const light = lighter[v].count[lighter_edges::limits - 1];
    return class_of(Kokkos::max(light, degree / longest_of_class));
  }

  KOKKOS_FUNCTION level_counters& counters(std::uint32_t round) const { return levels[round % 3]; }
  KOKKOS_FUNCTION level_counters& far_counters(std::uint32_t split) const { return far[split % 3]; }
  KOKKOS_FUNCTION local_vertex* far_queue(std::uint32_t split) const {
    return queue + (2 + split % 2) * vertices;
  }
  KOKKOS_FUNCTION std::uint32_t* near(int side) const {
    return side == 0 ? near_bits[0] : near_bits[1];
  }

  /// Clears what the next steps count in. Every step does so first.
  template <class Team>
  KOKKOS_FUNCTION void clear_next(Team const& team, progress<Weight> const& p) const {
    if (team.league_rank() != 0 || team.rank() != 0) return;
    counters(p.round + 2) = level_counters{};
    far_counters(p.split + 2) = level_counters{};
    far_min[(p.split + 2) % 3] = labels::farthest();
  }

  /// Marks a vertex in a bitmap, in which no bit is cleared in the same step. Returns: whether it was not marked yet.
  KOKKOS_FUNCTION static bool mark(std::uint32_t* bits, local_vertex v) {
    if ((device::load_cached(bits + v / 32) & bit_of(v)) != 0) return false;
    return (device::fetch_or(bits + v / 32, bit_of(v)) & bit_of(v)) == 0;
  }
  KOKKOS_FUNCTION static void unmark(std::uint32_t* bits, local_vertex v) {
    device::clear_bits(bits + v / 32, bit_of(v));
  }

  /// The number of a row's first edges that may lead from labels of `base` or more to one below `bound`.
  KOKKOS_FUNCTION std::uint32_t edges_below(local_vertex v, std::uint32_t degree, word base,
                                            word bound) const {
    // Sums that leave the range of distances are found by looking at the edges.
    if (lighter == nullptr || bound == labels::farthest()) return degree;
    lighter_edges const row = lighter[v];
    for (int i = 0; i < lighter_edges::limits; ++i)
      if (labels::plus(base, lighter_than[i]) >= bound) return row.count[i];
    return degree;
  }

  /// The label at the end of an edge out of a vertex with label d.
  KOKKOS_FUNCTION word along(word d, edge e) const { return farther(d, weight[e]); }
  /// The same for an edge of this weight.
  KOKKOS_FUNCTION word farther(word d, Weight w) const {
    word const to = labels::plus(d, w);
    if (to == labels::farthest() && labels::is_finite(w)) device::store_relaxed(too_far, 1u);
    return to;
  }
};

template <class State>
using progress_of = progress<typename State::weight_type>;

}  // namespace karpos::detail::sssp
