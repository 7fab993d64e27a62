// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/device/program.hpp"
#include "karpos/device/team.hpp"

// Builds a queue from a scan of the status bitmaps, without atomic operations, in two passes
// (Enterprise's frontier queue generation). scan_count counts the vertices in each team's share of
// the bitmap. scan_compact takes the prefix sum of these counts as the team's place in the queue,
// and copies the vertices there. There are two orders, as in the paper:
//
//   interleaved   team 0 | team 1 | team 2 | team 0 | …   top-down levels: coalesced reads
//   blocked       team 0          | team 1          | …   direction switch: the queue is sorted,
//                                                         and rows are read in order

namespace karpos::detail::bfs {

/// The set of vertices that a scan compacts.
enum class scan_target {
  /// Bits of visited[1 - current], set by expand_frontier; the scan adds them to visited[current].
  status_bits,
  /// Found by the last bottom-up level: in visited[current], not in visited[1 - current].
  found_bottom_up,
  unvisited  ///< not in visited[current]; they go to the queue of unvisited vertices
};

/// Base of both passes.
template <class StateHandle, class ProgressHandle>
struct bitmap_scan {
  using State = typename StateHandle::state;
  StateHandle s;
  ProgressHandle p;
  scan_target target;

  std::uint64_t work() const { return s->own_words(); }

  KOKKOS_FUNCTION bool is_blocked() const { return target != scan_target::status_bits; }

  /// Returns the bits of word w that belong to the set.
  KOKKOS_FUNCTION std::uint32_t bits(std::uint64_t w) const {
    std::uint32_t const current_bits = s->bitmap(p->current)[w];
    if (target == scan_target::unvisited) return ~current_bits;
    std::uint32_t const other_bits = s->bitmap(1 - p->current)[w];
    return target == scan_target::status_bits ? other_bits & ~current_bits
                                              : current_bits & ~other_bits;
  }

  /// Runs f(first word, last word) on each thread of a team, for every round of the team.
  template <class Team, class F>
  KOKKOS_FUNCTION void for_each_round(Team const& team, F const& f) const {
    constexpr std::uint64_t each = State::tuned::scan_words;
    auto const round = each * static_cast<std::uint64_t>(team.size());
    auto const teams = static_cast<std::uint64_t>(team.league_size());
    auto const rank = static_cast<std::uint64_t>(team.league_rank());
    std::uint64_t const begin = s->first_word(), end = begin + s->own_words();
    std::uint64_t const all = (s->own_words() + round - 1) / round;
    std::uint64_t const rounds = (all + teams - 1) / teams;
    for (std::uint64_t r = 0; r < rounds; ++r) {
      std::uint64_t const at = is_blocked() ? rank * rounds + r : r * teams + rank;
      if (at >= all) continue;
      std::uint64_t const first =
          begin + at * round + each * static_cast<std::uint64_t>(team.rank());
      // Not Kokkos::min: it costs the persistent kernel (64 registers) 24 bytes of spill loads.
      KARPOS_INLINE_CALLS f(first < end ? first : end, first + each < end ? first + each : end);
    }
  }

  /// Returns the region of the queue for a vertex. The queue of unvisited vertices has one region.
  KOKKOS_FUNCTION int class_of(std::uint64_t degree) const {
    return target == scan_target::unvisited ? 0 : s->class_of(degree);
  }
  static_assert(State::tuned::scan_words * 32 * State::tuned::scan_threads < 65536,
                "karpos: the sums of a team in 16 bits each");
  /// Returns the number of vertices of each class in some words, 16 bits each.
  KARPOS_STEP_FUNCTION std::uint64_t count(std::uint64_t first, std::uint64_t last) const {
    std::uint64_t packed = 0;
    for (std::uint64_t w = first; w < last; ++w) {
      auto m = lane_mask<32>(bits(w));
      if (target == scan_target::unvisited) {
        packed += static_cast<std::uint64_t>(m.count());
        continue;
      }
      for (; m; m = m.without_first())
        packed += std::uint64_t(1)
                  << (16 * class_of(s->out.degree(w * 32 + static_cast<std::uint64_t>(m.first()))));
    }
    return packed;
  }
  KOKKOS_FUNCTION static std::uint32_t unpack(std::uint64_t packed, int c) {
    return static_cast<std::uint32_t>(packed >> (16 * c)) & 0xffffu;
  }
};

/// First pass: counts the vertices in each team's share.
template <class StateHandle, class ProgressHandle>
struct scan_count : bitmap_scan<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::scan_count";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t found[degree_classes] = {};
    this->for_each_round(team, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t total = 0;
      team.prefix_sum(this->count(first, last), total);
      for (int c = 0; c < degree_classes; ++c) found[c] += this->unpack(total, c);
    });
    if (team.rank() == 0)
      for (int c = 0; c < degree_classes; ++c)
        this->s->scan_counts[team.league_rank() * degree_classes + c] = found[c];
  }
};

/// Second pass: copies the vertices to their places in the queue.
template <class StateHandle, class ProgressHandle>
struct scan_compact : bitmap_scan<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::scan_compact";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const& state = *this->s;
    std::uint64_t before[degree_classes], edges = 0, hubs = 0;
    sum_teams_before(team, before);
    this->for_each_round(team, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t total = 0;
      std::uint64_t const mine = team.prefix_sum(this->count(first, last), total);
      std::uint64_t to[degree_classes];
      for (int c = 0; c < degree_classes; ++c) {
        to[c] = before[c] + this->unpack(mine, c);
        before[c] += this->unpack(total, c);
      }
      for (std::uint64_t w = first; w < last; ++w) copy_word(w, to, edges, hubs);
    });
    add_totals(team, before, edges, hubs, state.counters(level()));
  }

 private:
  /// Returns the level of the vertices that are compacted.
  KOKKOS_FUNCTION std::int32_t level() const {
    return this->p->level + (this->target == scan_target::status_bits ? 1 : 0);
  }
  template <class Team>
  KOKKOS_FUNCTION void sum_teams_before(Team const& team,
                                        std::uint64_t (&before)[degree_classes]) const {
    for (int c = 0; c < degree_classes; ++c) {
      std::uint64_t mine = 0;
      for (int q = team.rank(); q < team.league_rank(); q += team.size())
        mine += this->s->scan_counts[q * degree_classes + c];
      team.prefix_sum(mine, before[c]);
    }
  }

  /// Copies the vertices of a word, which no other thread accesses, to their places in the queue.
  KARPOS_STEP_FUNCTION void copy_word(std::uint64_t w, std::uint64_t (&to)[degree_classes],
                                      std::uint64_t& edges, std::uint64_t& hubs) const {
    auto const& state = *this->s;
    auto m = lane_mask<32>(this->bits(w));
    if (this->target == scan_target::status_bits) state.bitmap(this->p->current)[w] |= m.bits();
    for (; m; m = m.without_first()) {
      auto const v = static_cast<local_vertex>(w * 32 + static_cast<std::uint64_t>(m.first()));
      if (this->target == scan_target::unvisited) {
        state.unvisited_queue(this->p->current_unvisited)[to[0]++] = v;
        continue;
      }
      if (this->target == scan_target::status_bits) {
        state.distance[v] = level();
        state.hooks.discovered(state.global(v), level());
      }
      std::uint64_t const degree = state.out.degree(v);
      int const c = this->class_of(degree);
      state.queue[state.class_begin[c] + this->p->tail[c] + to[c]++] = v;
      edges += degree;
      hubs += degree > state.hub_degree ? 1 : 0;
    }
  }

  /// Adds a team's sums to the level's totals. end[c] of the last team is region c's length.
  template <class Team>
  KOKKOS_FUNCTION void add_totals(Team const& team, std::uint64_t const (&end)[degree_classes],
                                  std::uint64_t edges, std::uint64_t hubs,
                                  level_counters& to) const {
    std::uint64_t all_edges = 0, all_hubs = 0;
    team.prefix_sum(edges, all_edges);
    team.prefix_sum(hubs, all_hubs);
    if (team.rank() != 0) return;
    if (this->target == scan_target::status_bits && all_edges != 0)
      device::add(&to.edges, all_edges);
    if (all_hubs != 0) device::add(&to.hubs, static_cast<std::uint32_t>(all_hubs));
    if (team.league_rank() != team.league_size() - 1) return;
    if (this->target == scan_target::unvisited) {
      to.unvisited = static_cast<std::uint32_t>(end[0]);
      return;
    }
    for (int c = 0; c < degree_classes; ++c) to.in_class[c] = static_cast<std::uint32_t>(end[c]);
    to.unqueued = 0;
  }
};

/// Compacts a set of vertices, given by the status bitmaps, into a queue.
KARPOS_PROGRAM template <class Grid, class State, class Then>
KOKKOS_FUNCTION void scan(Grid& grid, State const& s, progress const& p, scan_target target,
                          Then const& then) {
  grid.run(device::make_step<scan_count>(grid, s, p, target), [] {});
  grid.run(device::make_step<scan_compact>(grid, s, p, target), then);
}

}  // namespace karpos::detail::bfs
