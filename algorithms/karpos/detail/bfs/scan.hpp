// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/progress.hpp"
#include "karpos/device/team.hpp"

// The queue from a scan of the bitmaps, without atomics: every team counts what it finds in its part, the sums of
// the parts before give its place, and a second pass copies out. Two orders:
//
//   interleaved   team 0 | team 1 | team 2 | team 0 | team 1 | …   top-down levels
//   blocked       team 0          | team 1          | team 2       the switch: the queue comes out in order of
//                                                                  the vertices, so that rows are read in order

namespace karpos::detail::bfs {

/// What a scan looks for.
enum class sought {
  marked,    ///< what expand_frontier left in visited[1 - now]; the scan adds it to visited[now]
  found,     ///< what search_bitmap found last: visited[now] without visited[1 - now]
  unvisited  ///< for the queue of unvisited vertices
};

template <class StateHandle, class ProgressHandle>
struct scan_part {
  using State = typename StateHandle::state;
  StateHandle s;
  ProgressHandle p;
  sought what;

  std::uint64_t work() const { return s->words; }

  KOKKOS_FUNCTION bool blocked() const { return what != sought::marked; }

  KOKKOS_FUNCTION std::uint32_t bits(std::uint64_t w) const {
    std::uint32_t const here = s->bitmap(p->now)[w];
    if (what == sought::unvisited) return ~here;
    std::uint32_t const there = s->bitmap(1 - p->now)[w];
    return what == sought::marked ? there & ~here : here & ~there;
  }

  /// Runs f(first word, last word) for every round of a team, on each thread with words of its own.
  template <class Team, class F>
  KOKKOS_FUNCTION void rounds(Team const& team, F const& f) const {
    constexpr std::uint64_t each = State::tuned::scan_words;
    auto const round = each * static_cast<std::uint64_t>(team.size());
    auto const parts = static_cast<std::uint64_t>(team.league_size());
    auto const part = static_cast<std::uint64_t>(team.league_rank());
    std::uint64_t const all = (s->words + round - 1) / round;
    std::uint64_t const length = (all + parts - 1) / parts;
    for (std::uint64_t r = 0; r < length; ++r) {
      std::uint64_t const at = blocked() ? part * length + r : r * parts + part;
      if (at >= all) continue;
      std::uint64_t const first = at * round + each * static_cast<std::uint64_t>(team.rank());
      f(first < s->words ? first : s->words, first + each < s->words ? first + each : s->words);
    }
  }

  /// Class of a vertex found; the queue of unvisited vertices knows no classes.
  KOKKOS_FUNCTION int class_of(std::uint64_t degree) const {
    return what == sought::unvisited ? 0 : s->class_of(degree);
  }
  static_assert(State::tuned::scan_words * 32 *
                        (device::is_device<typename State::execution_space>
                             ? State::tuned::team_threads
                             : 1) <
                    65536,
                "karpos: the sums of a team in 16 bits each");
  /// How many of each class there are in some words, 16 bits each.
  KOKKOS_FUNCTION std::uint64_t count(std::uint64_t first, std::uint64_t last) const {
    std::uint64_t packed = 0;
    for (std::uint64_t w = first; w < last; ++w) {
      auto m = lane_mask<32>(bits(w));
      if (what == sought::unvisited) {
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

/// First pass: counts.
template <class StateHandle, class ProgressHandle>
struct count_part : scan_part<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::scan_count";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t found[degree_classes] = {};
    this->rounds(team, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t total = 0;
      team.prefix_sum(this->count(first, last), total);
      for (int c = 0; c < degree_classes; ++c) found[c] += this->unpack(total, c);
    });
    if (team.rank() == 0)
      for (int c = 0; c < degree_classes; ++c)
        this->s->part_counts[team.league_rank() * degree_classes + c] = found[c];
  }
};

/// Second pass: copies out.
template <class StateHandle, class ProgressHandle>
struct place_part : scan_part<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::scan_place";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const& state = *this->s;
    std::uint64_t before[degree_classes], edges = 0, hubs = 0;
    sum_parts_before(team, before);
    this->rounds(team, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t total = 0;
      std::uint64_t const mine = team.prefix_sum(this->count(first, last), total);
      std::uint64_t to[degree_classes];
      for (int c = 0; c < degree_classes; ++c) {
        to[c] = before[c] + this->unpack(mine, c);
        before[c] += this->unpack(total, c);
      }
      for (std::uint64_t w = first; w < last; ++w) copy_word(w, to, edges, hubs);
    });
    publish(team, before, edges, hubs, state.counters(level()));
  }

 private:
  /// That the vertices belong to.
  KOKKOS_FUNCTION std::int32_t level() const {
    return this->p->level + (this->what == sought::marked ? 1 : 0);
  }
  template <class Team>
  KOKKOS_FUNCTION void sum_parts_before(Team const& team,
                                        std::uint64_t (&before)[degree_classes]) const {
    for (int c = 0; c < degree_classes; ++c) {
      std::uint64_t mine = 0;
      for (int q = team.rank(); q < team.league_rank(); q += team.size())
        mine += this->s->part_counts[q * degree_classes + c];
      team.prefix_sum(mine, before[c]);
    }
  }

  KOKKOS_FUNCTION void copy_word(std::uint64_t w, std::uint64_t (&to)[degree_classes],
                                 std::uint64_t& edges, std::uint64_t& hubs) const {
    auto const& state = *this->s;
    auto m = lane_mask<32>(this->bits(w));
    // Nobody else looks at this word: expand_frontier runs in another step.
    if (this->what == sought::marked) state.bitmap(this->p->now)[w] |= m.bits();
    for (; m; m = m.without_first()) {
      std::uint64_t const v = w * 32 + static_cast<std::uint64_t>(m.first());
      if (this->what == sought::unvisited) {
        state.candidate_queue(this->p->candidates)[to[0]++] = static_cast<std::uint32_t>(v);
        continue;
      }
      if (this->what == sought::marked) {
        state.distance[v] = level();
        state.hooks.discovered(static_cast<typename StateHandle::state::vertex>(v), level());
      }
      std::uint64_t const degree = state.out.degree(v);
      int const c = this->class_of(degree);
      state.queue[state.class_begin[c] + this->p->tail[c] + to[c]++] =
          static_cast<std::uint32_t>(v);
      edges += degree;
      hubs += degree > state.hub_degree ? 1 : 0;
    }
  }

  /// The last team knows all parts.
  template <class Team>
  KOKKOS_FUNCTION void publish(Team const& team, std::uint64_t const (&end)[degree_classes],
                               std::uint64_t edges, std::uint64_t hubs, level_counters& to) const {
    std::uint64_t all_edges = 0, all_hubs = 0;
    team.prefix_sum(edges, all_edges);
    team.prefix_sum(hubs, all_hubs);
    if (team.rank() != 0) return;
    if (this->what == sought::marked && all_edges != 0) device::add(&to.edges, all_edges);
    if (all_hubs != 0) device::add(&to.hubs, static_cast<std::uint32_t>(all_hubs));
    if (team.league_rank() != team.league_size() - 1) return;
    if (this->what == sought::unvisited) {
      to.candidates = static_cast<std::uint32_t>(end[0]);
      return;
    }
    for (int c = 0; c < degree_classes; ++c) to.in_class[c] = static_cast<std::uint32_t>(end[c]);
    to.found = 0;
  }
};

}  // namespace karpos::detail::bfs
