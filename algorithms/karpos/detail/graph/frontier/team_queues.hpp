// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"
#include "karpos/lane_mask.hpp"

// Block-local search: a team explores several hops from its slice of a narrow frontier by itself,
// before the grid synchronises. Local searches of bfs on GPUs (bfs/team_local_search.hpp) and
// bucket fusion of sssp (sssp/bucket_fusion.hpp) keep the vertices of a hop in the two queues of
// this file, which lie in the team's scratch:
//
//   count      |hop k|hop k + 1|hop k + 2|   entries pushed; this hop clears that of hop k + 2
//   queue 0    |hop k    : e|e|e|e|…     |   tiles pop pieces of these entries
//   queue 1    |hop k + 1: e|e|…         |   tiles push what they find
//
// A barrier of the team ends a hop. A push counts every entry, so that a count above the capacity
// tells of an overflow. A search decides what an overflow means: bfs undoes all hops, and sssp puts
// the vertices that do not fit into its near queue.

namespace karpos::detail::frontier {

/// Returns where part i begins if n items are divided into equal parts.
KOKKOS_INLINE_FUNCTION std::uint64_t part_begin(std::uint64_t n, std::uint64_t i,
                                                std::uint64_t parts) {
  return n * i / parts;
}

/// The entries first … last - 1 of a frontier.
struct slice {
  std::uint64_t first, last;
};
/// Returns a team's slice of n entries.
template <class Team>
KOKKOS_FUNCTION slice slice_of(Team const& team, std::uint64_t n) {
  auto const teams = static_cast<std::uint64_t>(team.league_size());
  auto const rank = static_cast<std::uint64_t>(team.league_rank());
  return {part_begin(n, rank, teams), part_begin(n, rank + 1, teams)};
}

/// The two queues of a team.
template <class Entry>
struct team_queues {
  std::uint32_t* count;  // count[k % 3]: entries pushed to the queue of hop k, overflowed ones too
  Entry* first;
  std::uint32_t capacity;

  /// scratch: of the team; the queues begin `front` bytes behind it.
  KOKKOS_FUNCTION team_queues(std::byte* scratch, std::size_t front, std::uint32_t max_entries)
      : count(reinterpret_cast<std::uint32_t*>(scratch)),
        first(reinterpret_cast<Entry*>(scratch + front)),
        capacity(max_entries) {}

  KOKKOS_FUNCTION Entry* of_hop(std::uint32_t hop) const { return first + (hop % 2) * capacity; }

  /// Clears the counts of the first two hops. A barrier of the team must follow.
  template <class Team>
  KOKKOS_FUNCTION void clear(Team const& team) const {
    if (team.rank() < 2) count[team.rank()] = 0;
    if (team.size() == 1) count[1] = 0;
  }
  /// Calls expand(), which pops the entries of a hop and pushes those of the next. All threads of
  /// the team must call it. Returns: the number of entries pushed.
  template <class Team, class Expand>
  KARPOS_STEP_FUNCTION std::uint32_t run_hop(Team const& team, std::uint32_t hop,
                                             Expand const& expand) const {
    if (team.rank() == 0) count[(hop + 2) % 3] = 0;
    expand();
    team.barrier();
    return count[(hop + 1) % 3];
  }

  /// Places in the queue of a hop for the items of a tile's lanes, up to N of each lane.
  template <int W, int N>
  struct places {
    lane_mask<W> lanes[N];  // those that push their item i
    std::uint32_t first;    // place of the first item
    bool any;
  };
  /// Reserves places for the items i whose bit is set in bits(lane). Uses ballots, not a prefix sum
  /// of their numbers, because a hop waits for each instruction.
  template <int N, class Tile, class Bits>
  KARPOS_STEP_FUNCTION auto reserve(Tile const& t, std::uint32_t hop, Bits const& bits) const {
    places<Tile::width, N> p;
    int total = 0;
    for (int i = 0; i < N; ++i) {
      p.lanes[i] = t.ballot([&](int lane) { return (bits(lane) >> i & 1u) != 0; });
      total += p.lanes[i].count();
    }
    p.any = total != 0;
    p.first = total == 0 ? 0 : t.once([&] {
      return device::fetch_add(device::scratch(count + hop % 3), static_cast<std::uint32_t>(total));
    });
    return p;
  }
};

/// Runs f(first) for pieces of W of a team's n entries: those that the calling tile handles.
template <int Width, int W, class Team, class F>
KARPOS_STEP_FUNCTION void for_each_piece(Team const& team, std::uint32_t n, F const& f) {
  auto const tiles = static_cast<std::uint32_t>(team.template tiles<Width>());
  for (std::uint32_t first = static_cast<std::uint32_t>(team.template tile_rank<Width>()) * W;
       first < n; first += tiles * W)
    KARPOS_INLINE_CALLS f(first);
}

}  // namespace karpos::detail::frontier
