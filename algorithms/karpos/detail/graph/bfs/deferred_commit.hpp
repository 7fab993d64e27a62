// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/device/team.hpp"

// Turns the distances that local searches leave behind into the state of a level-by-level search.
// Local searches of GPUs (team_local_search.hpp), and those of CPUs whose commit is deferred
// (local_search.hpp), write distances only. The steps:
//
//   find_parents            makes each vertex with a distance a parent of its neighbours one level
//                           farther, if parents are asked for
//   commit_distances        sets visited bits, calls hooks, adds the totals and records of the
//                           levels passed, and fills the frontier queue, by one pass over all
//                           vertices
//   roll_back_local_search  resets the distances above the frontier's, which a failed local search
//                           on a GPU has written, or local searches over ranks that end early
//
// Over ranks, each rank commits its own vertices, and writes their words of the status bitmap to
// all ranks. Parents of another rank's vertices are sent in lists (over_ranks.hpp).

namespace karpos::detail::bfs {

/// Returns the distances of all vertices, as unsigned integers: -1 is then above every other value.
template <class State>
KOKKOS_FUNCTION std::uint32_t* distances_of(State const& s) {
  return reinterpret_cast<std::uint32_t*>(s.distance);
}

/// Base of the steps of local searches: the shared state, and access to distances.
template <class StateHandle, class ProgressHandle>
struct local_search_step {
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  using tile = typename State::tile;
  using edge = typename State::edge;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return ~std::uint64_t(0); }

 protected:
  KOKKOS_FUNCTION std::uint32_t* distance_of(std::uint64_t v) const { return distances_of(*s) + v; }
  /// Runs f(v) for every vertex that this device owns, spread over the lanes of the grid.
  template <class Team, class F>
  KOKKOS_FUNCTION void for_each_own_vertex(Team& team, F const& f) const {
    std::uint64_t const first = 32 * s->first_word();
    for_each_index<width>(team, s->own_vertices(),
                          [&](std::uint64_t i) { KARPOS_INLINE_CALLS f(first + i); });
  }
  /// Returns the distance of the frontier's vertices.
  KOKKOS_FUNCTION std::uint32_t frontier_distance() const {
    return static_cast<std::uint32_t>(p->level);
  }
};

template <class StateHandle, class ProgressHandle>
struct roll_back_local_search : local_search_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::roll_back_local_search";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    this->for_each_own_vertex(team, [&](std::uint64_t v) {
      if (*this->distance_of(v) > this->frontier_distance())
        *this->distance_of(v) = ~std::uint32_t(0);
    });
    if constexpr (StateHandle::state::over_ranks) clear(team);
  }

 private:
  /// Clears the totals and records that a commit adds up.
  template <class Team>
  KOKKOS_FUNCTION void clear(Team const& team) const {
    if (team.league_rank() != 0) return;
    auto const& state = *this->s;
    for (int l = 0; l < 3; ++l) state.clear_counters(team, l);
    if (team.rank() == 0) *state.passed_levels = passed_totals{};
    std::int32_t const first = this->p->local_search.start_level + 1;
    for (std::int32_t l = first + team.rank(); l < recorded_levels; l += team.size())
      state.records[l] = level_record{};
  }
};

template <class StateHandle, class ProgressHandle>
struct find_parents : local_search_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::find_parents";
  using State = typename StateHandle::state;
  using edge = typename State::edge;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    auto const start_level = static_cast<std::uint32_t>(this->p->local_search.start_level);
    if constexpr (State::over_ranks) state.clear_next_local_search(team, *this->p);
    this->for_each_own_vertex(team, [&](std::uint64_t v) {
      std::uint32_t const mine = *this->distance_of(v);
      if (mine < start_level || mine >= this->frontier_distance()) return;
      auto const u = static_cast<local_vertex>(v);
      auto const* const column = state.out.column;
      std::uint32_t const* const distances = distances_of(state);
      edge const end = state.out.end(v);
      for (edge e = state.out.begin(v); e < end; ++e) {
        local_vertex const w = State::local(column[e]);
        if constexpr (State::over_ranks)
          if (!state.is_own_word(w / 32)) {
            if (state.follows(u, w)) state.list_parent(*this->p, {w, mine + 1, u});
            continue;
          }
        if (distances[w] == mine + 1 && state.follows(u, w)) state.store_parent(w, u);
      }
    });
  }
};

/// Adds up the records of levels. A CPU thread adds in memory of its own first, so that threads do
/// not wait for each other at each vertex.
template <class State>
class level_sums {
 public:
  static constexpr bool is_local = State::tuned::has_local_search;
  KOKKOS_FUNCTION explicit level_sums(State const& s) : m_state(s) {}

  KOKKOS_FUNCTION void add(std::int32_t level, std::uint64_t degree) {
    if (level >= recorded_levels) return;
    std::uint32_t const hubs = degree > m_state.hub_degree ? 1 : 0;
    if constexpr (is_local) {
      m_sum[level].vertices += 1;
      m_sum[level].edges += degree;
      m_sum[level].hubs += hubs;
    } else {
      add_to(m_state.records[level], {1, degree, hubs, 0});
    }
  }
  /// Adds the sums of this thread to the records.
  KOKKOS_FUNCTION void flush() {
    if constexpr (is_local)
      for (int l = 0; l < recorded_levels; ++l)
        if (m_sum[l].vertices > 0) add_to(m_state.records[l], m_sum[l]);
  }

 private:
  KOKKOS_FUNCTION static void add_to(level_record& to, level_record const& r) {
    device::add(&to.vertices, r.vertices);
    device::add(&to.edges, r.edges);
    if (r.hubs > 0) device::add(&to.hubs, r.hubs);
  }

  State const& m_state;
  level_record m_sum[is_local ? recorded_levels : 1] = {};
};

template <class StateHandle, class ProgressHandle>
struct commit_distances : local_search_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::commit_distances";
  using base = local_search_step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State, typename base::tile;
  static_assert(width == 32);  // a tile handles one word of the bitmaps

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    tile const t = team.template this_tile<width>();
    std::uint32_t const last = this->frontier_distance();
    // Not clear yet if the series had one local search only (explore_in_teams::clear).
    state.clear_counters(team, this->p->level + 1);
    frontier_bin<State> found(
        team.template tile_scratch<width>(0, frontier_bin<State>::bytes),
        frontier_writer<State>(t, state, this->p->tail, &state.counters(this->p->level)));
    level_sums<State> levels(state);
    passed_totals passed{};
    team.template for_each_tile<width>(state.own_words(), [&](std::uint64_t i) {
      std::uint64_t const w = state.first_word() + i;
      auto const vertex = [&](int lane) { return vertex_of(w, lane); };
      std::uint32_t* const visited = state.bitmap(this->p->current) + w;
      std::uint32_t const before = t.once([&] { return *visited; });
      auto const distance_here = t.each([&](int lane) {
        return vertex(lane) < state.vertices ? *this->distance_of(vertex(lane)) : ~0u;
      });
      auto const fresh = t.ballot(
          [&](int lane) { return distance_here[lane] != ~0u && (before >> lane & 1u) == 0; });
      if constexpr (State::over_ranks) {
        std::uint32_t* const merged = state.bitmap(1 - this->p->current) + w;
        t.on(lane_mask<width>::of(0), [&](int) {
          *merged = before | static_cast<std::uint32_t>(fresh.bits());
          state.copy_to_peers(merged, *merged);
        });
      }
      if (!fresh) return;
      t.on(lane_mask<width>::of(0),
           [&](int) { *visited = before | static_cast<std::uint32_t>(fresh.bits()); });
      discover_all(t, w, fresh, distance_here, levels, passed);
      auto const queued = t.each([&](int lane) -> std::uint32_t {
        return fresh.test(lane) && distance_here[lane] == last ? 1 : 0;
      });
      found.push(t, queued, [&](int lane, int) { return vertex(lane); });
    });
    found.flush(t);
    levels.flush();
    add_passed(team, passed);
  }

 private:
  KOKKOS_FUNCTION static local_vertex vertex_of(std::uint64_t word, int lane) {
    return static_cast<local_vertex>(word * width + static_cast<std::uint64_t>(lane));
  }
  /// Calls the hook for the new vertices of a word, and adds up those before the last level.
  template <class Distances>
  KARPOS_STEP_FUNCTION void discover_all(tile const& t, std::uint64_t word, lane_mask<width> fresh,
                                         Distances const& distance_here, level_sums<State>& levels,
                                         passed_totals& passed) const {
    State const& state = *this->s;
    std::uint32_t const last = this->frontier_distance();
    // In registers: no iteration of the loop over lanes waits for a store of the one before.
    passed_totals word_totals{};
    t.on(fresh, [&](int lane) {
      local_vertex const v = vertex_of(word, lane);
      auto const distance = static_cast<std::int32_t>(distance_here[lane]);
      state.hooks.discovered(State::global(v), distance);
      if (distance_here[lane] == last) return;
      std::uint64_t const degree = state.out.degree(v);
      word_totals.vertices += 1;
      word_totals.edges += degree;
      word_totals.deepest = Kokkos::max(word_totals.deepest, distance_here[lane]);
      levels.add(distance, degree);
    });
    passed.vertices += word_totals.vertices;
    passed.edges += word_totals.edges;
    passed.deepest = Kokkos::max(passed.deepest, word_totals.deepest);
  }
  template <class Team>
  KOKKOS_FUNCTION void add_passed(Team const& team, passed_totals const& passed) const {
    if (passed.deepest > device::load_relaxed(&this->s->passed_levels->deepest))
      device::fetch_max(&this->s->passed_levels->deepest, passed.deepest);
    std::uint64_t all_vertices = 0, all_edges = 0;
    team.prefix_sum(passed.vertices, all_vertices);
    team.prefix_sum(passed.edges, all_edges);
    if (team.rank() != 0 || all_vertices == 0) return;
    device::add(&this->s->passed_levels->vertices, all_vertices);
    device::add(&this->s->passed_levels->edges, all_edges);
  }
};

}  // namespace karpos::detail::bfs
