// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/detail/graph/sssp/state.hpp"
#include "karpos/device/team.hpp"

// Steps over all vertices: before the first round, between two buckets, and for parents.

namespace karpos::detail::sssp {

/// The bin for vertices of other ranks: none on one device. over_ranks.hpp specialises it.
template <class State, bool = State::over_ranks>
struct bin_for_others {
  static constexpr std::size_t bytes = 0;
  KARPOS_STEP_FUNCTION bin_for_others(std::byte*, State const&) {}
  KARPOS_STEP_FUNCTION void flush_others(typename State::tile const&) {}
};

/// The bins of a tile: one for the near queue that is filled, one for a far queue.
template <class State>
class bins : public bin_for_others<State> {
 public:
  using tile = typename State::tile;
  using near_bin = frontier_bin<State>;
  using far_bin = list_bin<State>;
  static constexpr std::size_t near_bytes = (near_bin::bytes + 63) / 64 * 64;
  static constexpr std::size_t far_bytes = (far_bin::bytes + 63) / 64 * 64;
  static constexpr std::size_t bytes = near_bytes + far_bytes + bin_for_others<State>::bytes;

  /// split: number of the far queue.
  template <class Team>
  KARPOS_STEP_FUNCTION bins(Team const& team, tile const& t, State const& s,
                            progress_of<State> const& p, std::uint32_t split,
                            std::size_t team_bytes = 0)
      : bin_for_others<State>(scratch(team, team_bytes) + near_bytes + far_bytes, s),
        near(scratch(team, team_bytes),
             frontier_writer<State>(t, s, p.tail, &s.counters(p.round + 1))),
        far(scratch(team, team_bytes) + near_bytes,
            list_writer<State>(s.far_queue(split), &s.far_counters(split).unvisited)) {}

  KARPOS_STEP_FUNCTION void flush(tile const& t) {
    near.flush(t);
    far.flush(t);
    this->flush_others(t);
  }

  near_bin near;
  far_bin far;

 private:
  template <class Team>
  KOKKOS_FUNCTION static std::byte* scratch(Team const& team, std::size_t team_bytes) {
    return team.template tile_scratch<State::width>(team_bytes, bytes);
  }
};

/// Appends vertices to the far queue; over ranks, those of the high 16 bits of won[lane] to the
/// lists of other ranks.
template <class State, class Won, class Vertex>
KARPOS_STEP_FUNCTION void push_far(typename State::tile const& t, bins<State>& found,
                                   Won const& won, Vertex const& vertex) {
  if constexpr (State::over_ranks) {
    found.far.push(t, t.each([&](int lane) { return won[lane] & 0xffffu; }), vertex);
    found.others.push(t, t.each([&](int lane) { return won[lane] >> 16; }), vertex);
  } else {
    found.far.push(t, won, vertex);
  }
}

template <class StateHandle, class ProgressHandle>
struct step {
  using State = typename StateHandle::state;
  using word = typename State::word;
  using tile = typename State::tile;
  static constexpr int width = State::width;

  StateHandle s;
  ProgressHandle p;
};

/// Appends this device's vertices for which chosen(v) holds to a bin, each once.
template <class Team, class State, class Bin, class Chosen>
KARPOS_STEP_FUNCTION void push_vertices(Team& team, typename Bin::tile const& t, State const& s,
                                        Bin& to, Chosen const& chosen) {
  std::uint64_t const first = s.first_vertex();
  push_chosen(
      team, t, s.vertices, to, [&](std::uint64_t i) { return chosen(first + i); },
      [&](std::uint64_t i) { return static_cast<local_vertex>(first + i); });
}

template <class StateHandle>
struct reset {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::sssp::reset";
  StateHandle s;

  std::uint64_t work() const { return s->graph_vertices(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *s;
    if (team.league_rank() == 0 && team.rank() == 0) {
      fixed_memory& f = *state.fixed;
      for (int i = 0; i < 3; ++i) {
        f.levels[i] = f.far[i] = level_counters{};
        f.far_min[i] = State::traits::infinity();
      }
      f.fused_edges = f.last_lowering_pass = f.distance_overflowed = 0;
    }
    for_each_index<State::width>(team, state.graph_vertices(), [&](std::uint64_t v) {
      state.distance[v] = State::traits::infinity();
      if (state.parent != nullptr) state.parent[v] = State::no_parent;
    });
    std::uint64_t const first = state.first_vertex() / 32;
    for_each_index<State::width>(team, state.words, [&](std::uint64_t w) {
      state.near_bits[0][first + w] = state.near_bits[1][first + w] = 0;
    });
    if constexpr (State::over_ranks) state.reset_lists(team);
  }
};

/// Puts the sources into the near queue of round 1. A source may occur twice.
template <class StateHandle, class ProgressHandle>
struct seed : step<StateHandle, ProgressHandle> {
  using base = step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State;
  static constexpr char const* label = "karpos::sssp::seed";
  source_list sources;

  std::uint64_t work() const { return sources.count; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    auto const t = team.template this_tile<width>();
    bins<State> found(team, t, state, *this->p, this->p->split);
    auto const source = [&](std::uint64_t i) { return sources.template at<State>(i); };
    auto const claim = [&](std::uint64_t i) {
      local_vertex const v = source(i);
      if constexpr (State::over_ranks)
        if (!state.owns(v)) return false;
      if (!State::mark(state.near_bits[1], v)) return false;
      state.distance[v] = 0;  // zero has this word in every weight type
      if (state.parent != nullptr) state.parent[v] = State::global(v);
      return true;
    };
    push_chosen(team, t, sources.count, found.near, claim, source);
    found.flush(t);
  }
};

/// Runs between two buckets: moves the far queue's vertices in the new bucket to the near queue.
/// Drops vertices below it, which have been expanded with their distance; keeps the others.
template <class StateHandle, class ProgressHandle>
struct split_far : step<StateHandle, ProgressHandle> {
  using base = step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State, typename base::word;
  static constexpr char const* label = "karpos::sssp::split_far";

  std::uint64_t work() const { return this->p->far_entries; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    auto const& now = *this->p;
    auto const t = team.template this_tile<width>();
    state.clear_next(team, now);
    bins<State> found(team, t, state, now, now.split + 1);
    local_vertex const* const from = state.far_queue(now.split);
    word min_distance = State::traits::infinity();
    std::uint64_t const n = now.far_entries;
    team.template for_each_tile<width>((n + width - 1) / width, [&](std::uint64_t i) {
      auto const at = [&](int lane) { return i * width + static_cast<std::uint64_t>(lane); };
      auto const target = t.each([&](int lane) -> int {
        if (at(lane) >= n) return 0;
        local_vertex const v = from[at(lane)];
        word const d = device::load_relaxed(state.distance + v);
        if (d >= now.threshold) min_distance = Kokkos::min(min_distance, d);
        return d < now.lower ? 0 : d < now.threshold ? 1 : 2;
      });
      auto const vertex = [&](int lane, int) { return from[at(lane)]; };
      found.near.push(t, t.each([&](int lane) { return target[lane] == 1 ? 1u : 0u; }), vertex);
      found.far.push(t, t.each([&](int lane) { return target[lane] == 2 ? 1u : 0u; }), vertex);
    });
    found.flush(t);
    std::uint64_t* const to = state.fixed->far_min + (now.split + 1) % 3;
    if (min_distance < device::load_relaxed(to)) device::fetch_min(to, min_distance);
  }
};

/// Queues all vertices with a distance; if `with_parent`, counts those without a parent instead.
template <class StateHandle, class ProgressHandle>
struct queue_reached : step<StateHandle, ProgressHandle> {
  using base = step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State;
  static constexpr char const* label = "karpos::sssp::queue_reached";
  bool with_parent;

  std::uint64_t work() const { return this->s->vertices; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    auto const t = team.template this_tile<width>();
    state.clear_next(team, *this->p);
    bins<State> found(team, t, state, *this->p, this->p->split);
    push_vertices(team, t, state, found.near, [&](std::uint64_t v) {
      if (state.distance[v] == State::traits::infinity()) return false;
      bool const is_queued = !with_parent || state.parent[v] != State::no_parent;
      if (!is_queued) found.near.count(1);
      return is_queued;
    });
    found.flush(t);
    found.near.add_counts(team, state.counters(this->p->round + 1));
  }
};

}  // namespace karpos::detail::sssp
