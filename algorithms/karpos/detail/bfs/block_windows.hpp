// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/for_each_index.hpp"
#include "karpos/detail/bfs/queue.hpp"
#include "karpos/device/team.hpp"

// Windows on GPUs: several levels of a narrow frontier between two grid barriers, each team with a part of the frontier
// of its own. What CPUs do is in windows.hpp, and why distances are exact; here the lists of a team are two queues in
// its scratch, and a search stays in windows for long.
//
//   explore_in_teams   team b takes an equal slice of the frontier and goes h hops: it takes vertices from its queue,
//                      labels them by atomic minimum, and queues the neighbours of those whose label that has lowered; a
//                      team barrier ends a hop. A vertex is labelled when it is taken and not when it is queued, so that its
//                      row is loaded meanwhile. The last hop's vertices go to the team's list in global memory, from which
//                      all teams take equal slices in the next window.
//
//                        team 0   |slice|hop 1|hop 2|…|hop h| -> list 0 \                    / slice 0  team 0
//                        team 1   |slice|hop 1|hop 2|…|hop h| -> list 1  > one grid barrier <  slice 1  team 1 …
//
//   forget             after a window in which a queue overflowed: takes the labels beyond its start back. The window
//                      runs again with half as many hops; one of a single hop is left to the level-by-level steps.
//   find_parents       when the windows end: each labelled vertex is a parent of its neighbours one farther, if asked for
//   commit_labels      then: visited bits, hooks, totals and records of the levels passed, and the frontier queue, by one
//                      pass over all vertices
//
// An entry of a list whose label has been lowered since is dropped: who lowered it has expanded the vertex.

namespace karpos::detail::bfs {

/// Entries of a list, and of a queue at most.
template <class State>
KOKKOS_FUNCTION std::uint32_t room_of_list(State const& s, int teams) {
  return static_cast<std::uint32_t>(Kokkos::min(s.vertices / static_cast<std::uint64_t>(teams),
                                                std::uint64_t(State::tuned::team_queue_entries)));
}

/// What both kinds of steps know.
template <class StateHandle, class ProgressHandle>
struct team_window_step {
  using State = typename StateHandle::state;
  static constexpr int width = State::width;
  using tile = typename State::tile;
  using edge = typename State::edge;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return ~std::uint64_t(0); }

 protected:
  /// The label of a vertex: its distance, unsigned, so that -1 is above every other.
  KOKKOS_FUNCTION std::uint32_t* label_of(std::uint64_t v) const {
    return reinterpret_cast<std::uint32_t*>(s->distance + v);
  }
  KOKKOS_FUNCTION std::uint32_t first_label() const { return static_cast<std::uint32_t>(p->level); }
};

template <class StateHandle, class ProgressHandle>
struct explore_in_teams : team_window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::explore_in_teams";
  using base = team_window_step<StateHandle, ProgressHandle>;
  using typename base::edge;
  using typename base::State;
  using typename base::tile;
  using tuned = typename State::tuned;
  using base::width;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    clear(team);
    queues const q(team, state);
    load_slice(team, q);
    std::uint32_t n = q.count[0];
    bool overflow = n > q.room;  // in small teams
    if (overflow) n = 0;
    std::uint32_t hop = 0;
    for (; hop < this->p->window.hops && n > 0; ++hop) {
      if (team.rank() == 0) q.count[(hop + 2) % 3] = 0;
      expand(team, q, hop, n);
      team.barrier();
      n = q.count[(hop + 1) % 3];
      overflow = n > q.room;
      if (overflow) n = 0;
    }
    n = list_last(team, q, hop, n);
    if (team.rank() != 0) return;
    window_totals& to = state.window_sums[this->p->window.number % 3];
    static_assert(tuned::team_queue_entries < 1 << 24);
    if (n > 0) device::add(&to.entries, n);
    if (overflow) device::add(&to.overflows, 1u);
  }

 private:
  struct queued {
    local_vertex vertex, from;
  };
  /// The two queues of a team, the number of entries that were to be pushed to that of hop k, count[k % 3], and room for a
  /// number for each team.
  struct queues {
    std::uint32_t *count, *before;
    std::uint32_t room;
    queued* first;

    template <class Team>
    KOKKOS_FUNCTION queues(Team const& team, State const& s)
        : count(reinterpret_cast<std::uint32_t*>(team.scratch())),
          before(count + 4) {
      std::size_t const front =
          (16 + static_cast<std::size_t>(team.league_size()) * sizeof(std::uint32_t) + 15) / 16 *
          16;
      std::size_t const all =
          State::tuned::has_team_windows
              ? frontier_bin<State>::bytes * static_cast<std::size_t>(team.template tiles<width>())
              : 0;
      // Small teams of a large league have no room: their first window overflows, and levels are expanded one by one.
      std::size_t const rest = all > front ? all - front : 0;
      room = Kokkos::min(room_of_list(s, team.league_size()),
                         static_cast<std::uint32_t>(rest / (2 * sizeof(queued))));
      first = reinterpret_cast<queued*>(team.scratch() + front);
    }
    KOKKOS_FUNCTION queued* entry(std::uint32_t hop) const { return first + (hop % 2) * room; }
  };
  /// The list of a team in global memory.
  struct team_list {
    local_vertex* entry;
    std::uint32_t* count;
  };
  KOKKOS_FUNCTION team_list list(int which, int team, int teams) const {
    State const& state = *this->s;
    std::uint64_t const room = state.vertices / static_cast<std::uint64_t>(teams);
    return {state.unvisited_queue(which) + room * static_cast<std::uint64_t>(team),
            state.window_counts + which * teams + team};
  }

  /// Clears what later windows and levels count in, and the records of the levels of this window. A late team may still read
  /// the totals of the level L that the windows begin with, counters L % 3, which therefore the second window clears. If there is
  /// none, commit_labels counts in those of L + h after h hops: others, for h is a power of two.
  template <class Team>
  KOKKOS_FUNCTION void clear(Team const& team) const {
    static_assert(tuned::most_team_hops % tuned::first_team_hops == 0 &&
                  (tuned::most_team_hops & (tuned::most_team_hops - 1)) == 0);
    if (team.league_rank() != 0) return;
    State const& state = *this->s;
    for (std::int32_t l = this->p->window.from_queue ? 1 : 0; l < 3; ++l)
      state.clear_counters(team, this->p->level + l);
    if (team.rank() == 0) {
      state.window_sums[(this->p->window.number + 1) % 3] = window_totals{};
      *state.window_passed = passed_totals{};
    }
    for (auto hop = static_cast<std::uint32_t>(team.rank()) + 1; hop <= this->p->window.hops;
         hop += static_cast<std::uint32_t>(team.size()))
      if (this->first_label() + hop < std::uint32_t(recorded_levels))
        state.records[this->first_label() + hop] = level_record{};
  }

  /// Takes an equal part of the frontier into the first queue.
  template <class Team>
  KOKKOS_FUNCTION void load_slice(Team& team, queues const& q) const {
    State const& state = *this->s;
    auto const teams = static_cast<std::uint64_t>(team.league_size());
    auto const rank = static_cast<std::uint64_t>(team.league_rank());
    std::uint64_t const all = this->p->window.entries;
    std::uint64_t const first = all * rank / teams, last = all * (rank + 1) / teams;
    if (team.rank() < 2) q.count[team.rank()] = 0;
    if (team.size() == 1) q.count[1] = 0;
    if (!this->p->window.from_queue) sum_lists_before(team, q.before);
    team.barrier();
    local_vertex const* const queue =
        state.queue + state.class_begin[by_thread] + this->p->head[by_thread];
    auto const size = static_cast<std::uint64_t>(team.size());
    for (std::uint64_t i = first; i < last; i += size) {
      std::uint64_t const mine = i + static_cast<std::uint64_t>(team.rank());
      local_vertex v = 0;
      bool stands = mine < last;
      if (stands) {
        v = this->p->window.from_queue ? queue[mine]
                                       : listed(team, q.before, static_cast<std::uint32_t>(mine));
        stands = device::load_relaxed(this->label_of(v)) == this->first_label();
      }
      std::uint32_t const at = team.append(q.count, stands);
      if (stands && at < q.room) q.entry(0)[at] = {v, v};
    }
    team.barrier();
  }
  /// before[i]: entries of the lists of the teams before i.
  template <class Team>
  KOKKOS_FUNCTION void sum_lists_before(Team const& team, std::uint32_t* before) const {
    std::uint64_t sum = 0;
    for (int first = 0; first < team.league_size(); first += team.size()) {
      int const i = first + team.rank();
      std::uint64_t const n =
          i < team.league_size()
              ? this->s->window_counts[this->p->window.input * team.league_size() + i]
              : 0;
      std::uint64_t total = 0;
      std::uint64_t const at = sum + team.prefix_sum(n, total);
      if (i < team.league_size()) before[i] = static_cast<std::uint32_t>(at);
      sum += total;
    }
  }
  /// Entry i of all lists, by bisection.
  template <class Team>
  KOKKOS_FUNCTION local_vertex listed(Team const& team, std::uint32_t const* before,
                                      std::uint32_t i) const {
    int low = 0, high = team.league_size();
    while (high - low > 1) {
      int const middle = (low + high) / 2;
      (before[middle] <= i ? low : high) = middle;
    }
    return list(this->p->window.input, low, team.league_size()).entry[i - before[low]];
  }

  /// What is left to look at of a vertex: of its padded row, and of its row.
  struct row {
    local_vertex vertex, from;
    edge begin, end;
    padded_row padded;
  };
  /// Labels the n vertices of a hop, one a lane, and expands those whose label has been lowered by that.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void expand(Team const& team, queues const& q, std::uint32_t hop,
                                          std::uint32_t n) const {
    tile const t = team.template this_tile<width>();
    auto const tiles = static_cast<std::uint32_t>(team.template tiles<width>());
    queued const* const from = q.entry(hop);
    for (std::uint32_t first = static_cast<std::uint32_t>(team.template tile_rank<width>()) * width;
         first < n; first += tiles * width) {
      auto const rows = t.each([&](int lane) -> row {
        std::uint32_t const i = first + static_cast<std::uint32_t>(lane);
        return i < n ? claim(from[i], hop) : row{0, 0, 0, 0, padded_row::empty()};
      });
      // A long row would be a lane's alone: it counts as an overflow.
      if (t.ballot(
              [&](int lane) { return rows[lane].end - rows[lane].begin > tuned::window_degree; })) {
        t.once(
            [&] { return device::fetch_add(device::scratch(q.count + (hop + 1) % 3), 1u << 24); });
        return;
      }
      if (this->s->padded != nullptr) push_padded(t, rows, q, hop + 1);
      push_rows(t, rows, q, hop + 1);
    }
  }
  /// Labels a vertex; its row is on its way meanwhile. Those of the first hop have their label.
  KOKKOS_FORCEINLINE_FUNCTION row claim(queued e, std::uint32_t hop) const {
    State const& state = *this->s;
    row r{e.vertex, e.from, 0, 0, padded_row::empty()};
    std::uint32_t const lowered = this->first_label() + hop;
    if (state.padded != nullptr) {
      device::load_frozen(state.padded[e.vertex].neighbour, r.padded.neighbour);
    } else {
      r.begin = state.out.begin(e.vertex);
      r.end = state.out.end(e.vertex);
    }
    std::uint32_t const before =
        hop == 0 ? ~0u : device::fetch_min(this->label_of(e.vertex), lowered);
    if (before <= lowered) return {e.vertex, e.from, 0, 0, padded_row::empty()};
    if (state.padded != nullptr && r.padded.is_long()) {
      r.padded = padded_row::empty();
      r.begin = state.out.begin(e.vertex);
      r.end = state.out.end(e.vertex);
    }
    return r;
  }
  /// Neighbours of a lane: bit i of `open` for vertex[i].
  struct neighbours {
    local_vertex vertex[tuned::neighbours_at_once];
    std::uint32_t open;
  };
  static_assert(tuned::neighbours_at_once >= padded_row::size);

  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION void push_padded(tile const& t, Rows const& rows, queues const& q,
                                               std::uint32_t hop) const {
    push(t, rows, t.each([&](int lane) {
      neighbours n;
      n.open = 0;
      for (int i = 0; i < padded_row::size; ++i) {
        n.vertex[i] = rows[lane].padded.neighbour[i];
        n.open |=
            n.vertex[i] != padded_row::none && leads_on(rows[lane], n.vertex[i]) ? 1u << i : 0;
      }
      return n;
    }),
         q, hop);
  }
  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION void push_rows(tile const& t, Rows const& rows, queues const& q,
                                             std::uint32_t hop) const {
    constexpr int at_once = tuned::neighbours_at_once;
    for (edge done = 0;
         t.ballot([&](int lane) { return rows[lane].begin + done < rows[lane].end; });
         done += at_once)
      push(t, rows, t.each([&](int lane) {
        row const& r = rows[lane];
        neighbours n;
        n.open = 0;
        for (int i = 0; i < at_once; ++i) {
          edge const e = r.begin + done + static_cast<edge>(i);
          n.vertex[i] = e < r.end ? State::local(this->s->out.column[e]) : r.from;
        }
        for (int i = 0; i < at_once; ++i)
          n.open |= r.begin + done + static_cast<edge>(i) < r.end && leads_on(r, n.vertex[i])
                        ? 1u << i
                        : 0;
        return n;
      }),
           q, hop);
  }
  /// Whether an edge is to be followed; the one back to where the vertex was found from is not.
  KOKKOS_FORCEINLINE_FUNCTION bool leads_on(row const& r, local_vertex v) const {
    return v != r.from && this->s->follows(r.vertex, v);
  }
  /// Puts the open neighbours of all lanes into the queue of a hop, and has what is read of them next fetched.
  template <class Rows, class Neighbours>
  KOKKOS_FORCEINLINE_FUNCTION void push(tile const& t, Rows const& rows, Neighbours const& found,
                                        queues const& q, std::uint32_t hop) const {
    constexpr int at_once = tuned::neighbours_at_once;
    // Ballots, and not a prefix sum of the counts: a hop waits for each instruction.
    lane_mask<width> open[at_once];
    int total = 0;
    for (int i = 0; i < at_once; ++i) {
      open[i] = t.ballot([&](int lane) { return (found[lane].open >> i & 1u) != 0; });
      total += open[i].count();
    }
    if (total == 0) return;
    std::uint32_t place = t.once([&] {
      return device::fetch_add(device::scratch(q.count + hop % 3),
                               static_cast<std::uint32_t>(total));
    });
    for (int i = 0; i < at_once; ++i) {
      t.on(open[i], [&](int lane) {
        std::uint32_t const to = place + static_cast<std::uint32_t>(open[i].rank(lane));
        local_vertex const v = found[lane].vertex[i];
        device::prefetch_far(this->label_of(v));
        if (this->s->padded != nullptr)
          device::prefetch_far(this->s->padded + v);
        else
          device::prefetch_far(this->s->out.offset + v);
        if (to < q.room) q.entry(hop)[to] = {v, rows[lane].vertex};
      });
      place += static_cast<std::uint32_t>(open[i].count());
    }
  }

  /// Labels what the last hop has queued. Returns: how many vertices got a lower label, which are listed.
  template <class Team>
  KOKKOS_FUNCTION std::uint32_t list_last(Team const& team, queues const& q, std::uint32_t hop,
                                          std::uint32_t n) const {
    team_list const out = list(1 - this->p->window.input, team.league_rank(), team.league_size());
    std::uint32_t const lowered = this->first_label() + hop;
    std::uint32_t* const count = q.count + (hop + 1) % 3;  // cleared in the last hop
    auto const size = static_cast<std::uint32_t>(team.size());
    for (std::uint32_t first = 0; first < n; first += size) {
      std::uint32_t const i = first + static_cast<std::uint32_t>(team.rank());
      local_vertex const v = i < n ? q.entry(hop)[i].vertex : 0;
      bool const won = i < n && device::fetch_min(this->label_of(v), lowered) > lowered;
      std::uint32_t const at = team.append(count, won);
      if (won) out.entry[at] = v;
    }
    team.barrier();
    if (team.rank() == 0) *out.count = *count;
    return *count;
  }
};

template <class StateHandle, class ProgressHandle>
struct forget : team_window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::forget";

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for_each_index<StateHandle::state::width>(team, this->s->vertices, [&](std::uint64_t v) {
      if (*this->label_of(v) > this->first_label()) *this->label_of(v) = ~std::uint32_t(0);
    });
  }
};

template <class StateHandle, class ProgressHandle>
struct find_parents : team_window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::find_parents";
  using State = typename StateHandle::state;
  using edge = typename State::edge;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    auto const entered = static_cast<std::uint32_t>(this->p->window.entered);
    for_each_index<StateHandle::state::width>(team, this->s->vertices, [&](std::uint64_t v) {
      std::uint32_t const mine = *this->label_of(v);
      if (mine < entered || mine >= this->first_label()) return;
      auto const u = static_cast<local_vertex>(v);
      for (edge e = state.out.begin(v); e < state.out.end(v); ++e) {
        local_vertex const w = State::local(state.out.column[e]);
        if (*this->label_of(w) == mine + 1 && state.follows(u, w)) state.propose_parent(w, u);
      }
    });
  }
};

template <class StateHandle, class ProgressHandle>
struct commit_labels : team_window_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::commit_labels";
  using base = team_window_step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State;
  using typename base::tile;
  static_assert(width == 32 || !State::tuned::has_team_windows);

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    tile const t = team.template this_tile<width>();
    std::uint32_t const last = this->first_label();
    frontier_bin<State> found(
        team.template tile_scratch<width>(0, frontier_bin<State>::bytes),
        frontier_writer<State>(t, state, this->p->tail, &state.counters(this->p->level)));
    std::uint64_t vertices = 0, edges = 0;
    std::uint32_t deepest = 0;
    team.template for_each_tile<width>(state.words, [&](std::uint64_t w) {
      auto const vertex = [&](int lane) {
        return static_cast<local_vertex>(w * width + static_cast<std::uint64_t>(lane));
      };
      std::uint32_t* const visited = state.bitmap(this->p->current) + w;
      std::uint32_t const before = t.once([&] { return *visited; });
      auto const label_here = t.each([&](int lane) {
        return vertex(lane) < state.vertices ? *this->label_of(vertex(lane)) : ~0u;
      });
      auto const fresh =
          t.ballot([&](int lane) { return label_here[lane] != ~0u && (before >> lane & 1u) == 0; });
      if (!fresh) return;
      t.on(lane_mask<width>::of(0),
           [&](int) { *visited = before | static_cast<std::uint32_t>(fresh.bits()); });
      t.on(fresh, [&](int lane) {
        auto const distance = static_cast<std::int32_t>(label_here[lane]);
        state.hooks.discovered(State::global(vertex(lane)), distance);
        if (label_here[lane] == last) return;
        vertices += 1;
        deepest = Kokkos::max(deepest, label_here[lane]);
        edges += count(vertex(lane), distance);
      });
      auto const queued = t.each([&](int lane) -> std::uint32_t {
        return fresh.test(lane) && label_here[lane] == last ? 1 : 0;
      });
      found.push(t, queued, [&](int lane, int) { return vertex(lane); });
    });
    found.flush(t);
    add_passed(team, vertices, edges, deepest);
  }

 private:
  /// Adds a vertex to the record of its level. Returns: its degree.
  KOKKOS_FUNCTION std::uint64_t count(local_vertex v, std::int32_t distance) const {
    std::uint64_t const degree = this->s->out.degree(v);
    if (distance < recorded_levels) {
      level_record& r = this->s->records[distance];
      device::add(&r.vertices, std::uint64_t(1));
      device::add(&r.edges, degree);
      if (degree > this->s->hub_degree) device::add(&r.hubs, 1u);
    }
    return degree;
  }
  template <class Team>
  KOKKOS_FUNCTION void add_passed(Team const& team, std::uint64_t vertices, std::uint64_t edges,
                                  std::uint32_t deepest) const {
    if (deepest > device::load_relaxed(&this->s->window_passed->deepest))
      device::fetch_max(&this->s->window_passed->deepest, deepest);
    std::uint64_t all_vertices = 0, all_edges = 0;
    team.prefix_sum(vertices, all_vertices);
    team.prefix_sum(edges, all_edges);
    if (team.rank() != 0 || all_vertices == 0) return;
    device::add(&this->s->window_passed->vertices, all_vertices);
    device::add(&this->s->window_passed->edges, all_edges);
  }
};

}  // namespace karpos::detail::bfs
