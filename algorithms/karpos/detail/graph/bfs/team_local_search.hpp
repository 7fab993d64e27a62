// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/deferred_commit.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/device/team.hpp"

// Local search on GPUs. local_search.hpp describes that of CPUs, and why distances are exact. Here
// the lists of a team are two queues in its scratch (shared memory), and many local searches follow
// each other before a commit. The steps:
//
//   explore_in_teams  Each team loads an equal slice of the frontier and explores h hops. It pops
//                     vertices from its queue, and lowers their distances by atomic minimum; if
//                     that lowers a distance, it queues the vertex's neighbours. A team barrier
//                     ends a hop. A distance is written when the vertex is popped, not when it is
//                     queued, so that the row is loaded meanwhile. The last hop's vertices go
//                     to the team's list in global memory. In the next local search all teams load
//                     equal slices of these lists.
//
//                     team 0   |slice|hop 1|…|hop h| -> list 0 \  one     / slice 0  team 0
//                     team 1   |slice|hop 1|…|hop h| -> list 1  > grid   <  slice 1  team 1
//                     …                                        /  barrier \ …
//
//   roll_back_local_search
//                     Runs after a local search in which a queue overflowed: resets the distances
//                     beyond its start. The local search is repeated with half as many hops; if it
//                     had a single hop, the level-by-level steps go on.
//
// At the end of a series of local searches, one pass reads all distances (deferred_commit.hpp). An
// entry of a list is dropped if its vertex's distance has been lowered since: the thread that did
// so has expanded the vertex.
//
// Over several ranks (State::over_ranks), each rank explores its own vertices. All ranks wait for
// each other after a local search. What differs:
//
//   - Vertices of one hop may have different distances, so that entries of queues carry them.
//   - A neighbour that another rank owns becomes a claim: the vertex and its distance. A team
//     gathers claims in its scratch, then appends them to the rank's list for the other ranks.
//   - A local search starts from what the one before has left: the lists of this rank's teams, and
//     the claims of other ranks, if they lower a distance.
//
// So distances that were too large are corrected later. Why they end up exact: a thread that lowers
// a distance queues or lists the vertex, and then lowers or claims its neighbours. Let L be the
// lowest distance of a vertex that is listed, or that has claimed a neighbour. On a shortest path
// to a vertex whose distance is not final, the last vertex with a final distance is listed or has
// claimed its successor. So all vertices up to distance L have their final distances. L grows with
// each local search. A series ends when nothing is left. Ranks may also end it early, reset the
// distances above L, and go on from level L. A local search that overflows loses entries, but no
// distance up to the L that it began with.

namespace karpos::detail::bfs {

/// Returns the capacity of a list; a queue has this capacity at most.
template <class State>
KOKKOS_FUNCTION std::uint32_t team_list_capacity(State const& s, int teams) {
  return static_cast<std::uint32_t>(
      Kokkos::min(s.own_vertices() / static_cast<std::uint64_t>(teams),
                  std::uint64_t(State::tuned::team_queue_entries)));
}

template <class StateHandle, class ProgressHandle>
struct explore_in_teams : local_search_step<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::explore_in_teams";
  using base = local_search_step<StateHandle, ProgressHandle>;
  using typename base::edge, typename base::State, typename base::tile;
  using tuned = typename State::tuned;
  using base::width;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    clear(team);
    queues const q(team, state);
    load_slice(team, q);
    exploration const found = explore_rows(team, q);
    std::uint32_t const n = list_last_hop(team, q, found);
    if constexpr (State::over_ranks) list_claims(team, q);
    if (team.rank() != 0) return;
    local_search_totals& to = totals();
    if (n > 0) device::add(&to.entries, n);
    if (found.overflow) device::add(&to.overflows, 1u);
  }

 private:
  /// Added to the count of a queue in place of a row that is too long for it: the count then
  /// exceeds the capacity of any queue. Even if every entry of a queue adds it, and the neighbours
  /// of short rows are added as well, the count stays below 2^32.
  static constexpr std::uint32_t overflow_mark = 1u << 16;
  static_assert(overflow_mark > tuned::team_queue_entries);
  static_assert(tuned::team_queue_entries *
                    (std::uint64_t(overflow_mark) + tuned::lane_degree * tuned::lane_degree) <
                ~std::uint32_t(0));

  struct entry_of_hop {
    local_vertex vertex, from;
  };
  /// Over ranks, the entries of a hop may have different distances.
  struct entry_with_distance {
    local_vertex vertex, from;
    std::uint32_t distance;
  };
  using queue_entry = std::conditional_t<State::over_ranks, entry_with_distance, entry_of_hop>;
  KARPOS_STEP_FUNCTION static queue_entry make_entry(local_vertex v, local_vertex from,
                                                     [[maybe_unused]] std::uint32_t distance) {
    if constexpr (State::over_ranks)
      return {v, from, distance};
    else
      return {v, from};
  }
  KARPOS_STEP_FUNCTION std::uint32_t distance_in_hop([[maybe_unused]] queue_entry const& e,
                                                     [[maybe_unused]] std::uint32_t hop) const {
    if constexpr (State::over_ranks)
      return e.distance;
    else
      return this->frontier_distance() + hop;
  }
  /// Over ranks: claims in a team's scratch. `level` is the complement of the lowest distance of a
  /// vertex that the team has listed, or whose edge it has claimed.
  struct team_claims {
    static constexpr std::uint32_t capacity = State::over_ranks ? 256 : 0;
    std::uint32_t count, level, first_in_list, unused;
    rank_claim claim[State::over_ranks ? 256 : 1];
  };
  /// A team's scratch: the counts of its two queues, then `before`, a number for each team, then
  /// claims over ranks, then the entries of the queues.
  struct queues : team_queues<queue_entry> {
    std::uint32_t* before;

    template <class Team>
    KOKKOS_FUNCTION queues(Team const& team, State const& s)
        : team_queues<queue_entry>(team.scratch(), front_bytes(team), max_entries(team, s)),
          before(this->count + 4) {}
    /// Over ranks only.
    KOKKOS_FUNCTION team_claims& claims() const {
      return *(reinterpret_cast<team_claims*>(this->first) - 1);
    }
    /// Notes that a vertex of this distance is listed, or an edge of it claimed.
    KOKKOS_FUNCTION void note(std::uint32_t distance) const {
      device::fetch_max(device::scratch(&claims().level), ~distance);
    }

   private:
    template <class Team>
    KOKKOS_FUNCTION static std::size_t front_bytes(Team const& team) {
      std::size_t const numbers =
          16 + static_cast<std::size_t>(team.league_size()) * sizeof(std::uint32_t);
      return (numbers + 15) / 16 * 16 + (State::over_ranks ? sizeof(team_claims) : 0);
    }
    template <class Team>
    KOKKOS_FUNCTION static std::uint32_t max_entries(Team const& team, State const& s) {
      std::size_t const front = front_bytes(team);
      std::size_t const all =
          State::tuned::has_team_local_search || State::over_ranks
              ? frontier_bin<State>::bytes * static_cast<std::size_t>(team.template tiles<width>())
              : 0;
      // In a large league, small teams have no capacity: the first local search overflows.
      std::size_t const rest = all > front ? all - front : 0;
      return Kokkos::min(team_list_capacity(s, team.league_size()),
                         static_cast<std::uint32_t>(rest / (2 * sizeof(queue_entry))));
    }
  };
  /// A team's list in global memory.
  struct team_list {
    local_vertex* entry;
    std::uint32_t* count;
  };
  KOKKOS_FUNCTION team_list list(int which, int team, int teams) const {
    State const& state = *this->s;
    std::uint64_t const capacity = state.own_vertices() / static_cast<std::uint64_t>(teams);
    return {state.unvisited_queue(which) + capacity * static_cast<std::uint64_t>(team),
            state.list_lengths + which * teams + team};
  }

  KARPOS_STEP_FUNCTION local_search_totals& totals() const {
    return this->s->local_search_sums[this->p->local_search.number % 3];
  }
  /// Clears the counters of later local searches and levels, and the records of the levels of this
  /// local search. Let L be the level that the series of local searches begins with. A late team
  /// may still read L's totals, in counters L % 3, so only the second local search clears them. If
  /// there is none, commit_distances counts level L + h after h hops, in other counters, because h
  /// is a power of two. It also clears the counters of level L + h + 1, which may be those of L.
  template <class Team>
  KOKKOS_FUNCTION void clear(Team const& team) const {
    static_assert(tuned::max_team_hops % tuned::initial_team_hops == 0 &&
                  (tuned::max_team_hops & (tuned::max_team_hops - 1)) == 0);
    State const& state = *this->s;
    if constexpr (State::over_ranks) {
      state.clear_next_local_search(team, *this->p);
      return;  // roll_back_local_search clears the others
    }
    if (team.league_rank() != 0) return;
    for (std::int32_t l = this->p->local_search.from_queue ? 1 : 0; l < 3; ++l)
      state.clear_counters(team, this->p->level + l);
    if (team.rank() == 0) {
      state.local_search_sums[(this->p->local_search.number + 1) % 3] = local_search_totals{};
      *state.passed_levels = passed_totals{};
    }
    for (std::uint32_t hop = device::rank(team) + 1; hop <= this->p->local_search.hops;
         hop += device::size(team))
      if (this->frontier_distance() + hop < std::uint32_t(recorded_levels))
        state.records[this->frontier_distance() + hop] = level_record{};
  }

  /// Loads an equal part of the frontier into the first queue.
  template <class Team>
  KOKKOS_FUNCTION void load_slice(Team& team, queues const& q) const {
    State const& state = *this->s;
    auto const [first, last] = slice_of(team, this->p->local_search.entries);
    q.clear(team);
    if constexpr (State::over_ranks)
      if (team.rank() == 0) q.claims().count = q.claims().level = 0;
    if (!this->p->local_search.from_queue) sum_lists_before(team, q.before);
    team.barrier();
    local_vertex const* const queue = state.segment(*this->p, by_thread);
    auto const size = static_cast<std::uint64_t>(team.size());
    for (std::uint64_t i = first; i < last; i += size) {
      std::uint64_t const mine = i + static_cast<std::uint64_t>(team.rank());
      local_vertex v = 0;
      std::uint32_t distance = 0;
      bool is_valid = mine < last;
      if (is_valid) {
        v = this->p->local_search.from_queue
                ? queue[mine]
                : list_entry(team, q.before, static_cast<std::uint32_t>(mine));
        distance = device::load_relaxed(this->distance_of(v));
        is_valid = State::over_ranks || distance == this->frontier_distance();
      }
      append(team, q, is_valid, v, distance);
    }
    if constexpr (State::over_ranks) load_claims(team, q);
    team.barrier();
  }
  /// Appends a vertex to the first queue, if `is_valid`.
  template <class Team>
  KOKKOS_FUNCTION static void append(Team const& team, queues const& q, bool is_valid,
                                     local_vertex v, std::uint32_t distance) {
    std::uint32_t const at = team.append(q.count, is_valid);
    if (is_valid && at < q.capacity) q.of_hop(0)[at] = make_entry(v, v, distance);
  }
  /// Over ranks: lowers the distances of own vertices that other ranks have claimed in the local
  /// search before. Those that it has lowered enter the first queue.
  template <class Team>
  KOKKOS_FUNCTION void load_claims(Team& team, queues const& q) const {
    State const& state = *this->s;
    state.template for_each_list<rank_claim>(
        *this->p, 1 - state.claim_list(*this->p), [&](rank_claim const* list, std::uint64_t n) {
          auto const [first, last] = slice_of(team, n);
          auto const size = static_cast<std::uint64_t>(team.size());
          for (std::uint64_t i = first; i < last; i += size) {
            std::uint64_t const mine = i + static_cast<std::uint64_t>(team.rank());
            rank_claim const c = mine < last ? list[mine] : rank_claim{0, 0};
            bool const is_lowered =
                mine < last && state.is_own_word(c.vertex / 32) &&
                device::fetch_min(this->distance_of(c.vertex), c.distance) > c.distance;
            append(team, q, is_lowered, c.vertex, c.distance);
          }
        });
  }
  /// Sets before[i] to the number of entries in the lists of all teams before team i.
  template <class Team>
  KOKKOS_FUNCTION void sum_lists_before(Team const& team, std::uint32_t* before) const {
    std::uint64_t sum = 0;
    for (int first = 0; first < team.league_size(); first += team.size()) {
      int const i = first + team.rank();
      std::uint64_t const n =
          i < team.league_size()
              ? this->s->list_lengths[this->p->local_search.input * team.league_size() + i]
              : 0;
      std::uint64_t total = 0;
      std::uint64_t const at = sum + team.prefix_sum(n, total);
      if (i < team.league_size()) before[i] = static_cast<std::uint32_t>(at);
      sum += total;
    }
  }
  /// Returns entry i of all lists, found by bisection.
  template <class Team>
  KOKKOS_FUNCTION local_vertex list_entry(Team const& team, std::uint32_t const* before,
                                          std::uint32_t i) const {
    int low = 0, high = team.league_size();
    while (high - low > 1) {
      int const middle = (low + high) / 2;
      (before[middle] <= i ? low : high) = middle;
    }
    return list(this->p->local_search.input, low, team.league_size()).entry[i - before[low]];
  }

  /// The kind of rows that are read. two_hops: rows of all vertices within two hops; not with a
  /// user's predicate, which might close one of several paths to a vertex that the row holds once.
  enum class row_kind { csr, padded, two_hops };
  /// Result of a team's exploration: its steps, and the vertices that the last step has queued.
  struct exploration {
    std::uint32_t steps, hops_per_step, entries;
    bool overflow;
  };
  template <class Team>
  KARPOS_STEP_FUNCTION exploration explore_rows(Team& team, queues const& q) const {
    if constexpr (State::over_ranks) {
      return explore<row_kind::csr>(team, q);
    } else {
      if constexpr (State::follows_every_edge)
        if (this->s->two_hop != nullptr && this->p->local_search.hops > 1)
          return explore<row_kind::two_hops>(team, q);
      return this->s->padded != nullptr ? explore<row_kind::padded>(team, q)
                                        : explore<row_kind::csr>(team, q);
    }
  }
  template <row_kind Rows, class Team>
  KARPOS_STEP_FUNCTION exploration explore(Team& team, queues const& q) const {
    constexpr std::uint32_t hops = Rows == row_kind::two_hops ? 2 : 1;
    std::uint32_t const steps = this->p->local_search.hops / hops;
    exploration e{0, hops, q.count[0],
                  q.count[0] > q.capacity};  // an overflow is possible in small teams
    if (e.overflow) e.entries = 0;
    for (; e.steps < steps && e.entries > 0; ++e.steps) {
      e.entries = q.run_hop(team, e.steps, [&] {
        if constexpr (Rows == row_kind::two_hops)
          expand_two_hops(team, q, e.steps, e.entries);
        else
          expand<Rows>(team, q, e.steps, e.entries);
      });
      e.overflow = e.entries > q.capacity;
      if (e.overflow) e.entries = 0;
    }
    return e;
  }
  /// Neighbours that a lane has loaded; bit i of `open` tells whether to follow vertex[i].
  struct neighbours {
    local_vertex vertex[tuned::neighbours_at_once];
    std::uint32_t open;
  };
  static_assert(tuned::neighbours_at_once >= padded_row::size);

  /// A lane's part of the row of all vertices within two hops.
  struct two_hop_part {
    local_vertex vertex, from;
    padded_row near;  // one neighbour, then neighbours of it
  };
  /// Lowers the distances of the n vertices of a step. If that has lowered a vertex's distance,
  /// lowers those of its neighbours too, and queues the vertices two hops away, so that the
  /// neighbours need not be expanded. A lane handles one part of a row.
  template <class Team>
  KARPOS_STEP_FUNCTION void expand_two_hops(Team const& team, queues const& q, std::uint32_t step,
                                            std::uint32_t n) const {
    constexpr int parts = two_hop_row::parts, vertices = width / parts;
    tile const t = team.template this_tile<width>();
    std::uint32_t const lowered = this->frontier_distance() + 2 * step;
    queue_entry const* const from = q.of_hop(step);
    for_each_piece<width, vertices>(team, n, [&](std::uint32_t first) {
      auto const loaded = t.each([&](int lane) -> two_hop_part {
        std::uint32_t const i = first + static_cast<std::uint32_t>(lane / parts);
        if (i >= n) return {0, 0, padded_row::empty()};
        two_hop_part r{from[i].vertex, from[i].from, padded_row::empty()};
        device::load_frozen(this->s->two_hop[r.vertex].part[lane % parts].neighbour,
                            r.near.neighbour);
        return r;
      });
      auto const before = t.each([&](int lane) -> std::uint32_t {
        if (lane % parts != 0 || first + static_cast<std::uint32_t>(lane / parts) >= n) return 0;
        return step == 0 ? ~0u : device::fetch_min(this->distance_of(loaded[lane].vertex), lowered);
      });
      auto const of_vertex = t.gather(before, [&](int lane) { return lane - lane % parts; });
      auto const rows = t.each([&](int lane) {
        two_hop_part r = loaded[lane];
        if (of_vertex[lane] <= lowered) r.near = padded_row::empty();
        return r;
      });
      push_two_hops(t, rows, q, step, lowered + 1);
    });
  }
  template <class Rows>
  KARPOS_STEP_FUNCTION void push_two_hops(tile const& t, Rows const& rows, queues const& q,
                                          std::uint32_t step, std::uint32_t middle_distance) const {
    auto const too_long = t.ballot([&](int lane) { return rows[lane].near.is_long(); });
    push<row_kind::two_hops>(t, rows, t.each([&](int lane) {
      neighbours n;
      n.open = 0;
      for (int i = 1; i < padded_row::size; ++i) {
        n.vertex[i] = rows[lane].near.neighbour[i];
        n.open |= n.vertex[i] != padded_row::none && n.vertex[i] != rows[lane].from ? 1u << i : 0;
      }
      return n;
    }),
                             q, step + 1);
    t.each([&](int lane) {
      local_vertex const w = rows[lane].near.neighbour[0];
      if (w < padded_row::longer) device::fetch_min(this->distance_of(w), middle_distance);
    });
    t.on(too_long, [&](int lane) { push_long(rows[lane], q, step + 1, middle_distance); });
  }
  /// Follows two hops from a vertex on one lane, if its row or a neighbour's does not fit.
  KOKKOS_FUNCTION void push_long(two_hop_part const& r, queues const& q, std::uint32_t step,
                                 std::uint32_t middle_distance) const {
    auto const& out = this->s->out;
    auto const count = device::scratch(q.count + step % 3);
    for (edge e = out.begin(r.vertex); e < out.end(r.vertex); ++e) {
      local_vertex const w = State::local(out.column[e]);
      if (out.degree(r.vertex) > tuned::lane_degree || out.degree(w) > tuned::lane_degree) {
        device::fetch_add(count, overflow_mark);
        return;
      }
      device::fetch_min(this->distance_of(w), middle_distance);
      for (edge f = out.begin(w); f < out.end(w); ++f) {
        local_vertex const x = State::local(out.column[f]);
        if (x == r.vertex || x == r.from) continue;
        std::uint32_t const at = device::fetch_add(count, 1u);
        if (at < q.capacity) q.of_hop(step)[at] = make_entry(x, r.vertex, 0);
      }
    }
  }

  /// Edges left to follow from a vertex: loaded neighbours, and the rest of its row.
  struct row_of_hop {
    local_vertex vertex, from;
    edge begin, end;
    padded_row near;
  };
  struct row_with_distance : row_of_hop {
    std::uint32_t distance;
  };
  using row = std::conditional_t<State::over_ranks, row_with_distance, row_of_hop>;
  KARPOS_STEP_FUNCTION static row no_row() { return row_of(make_entry(0, 0, 0)); }
  KARPOS_STEP_FUNCTION static row row_of(queue_entry const& e) {
    if constexpr (State::over_ranks)
      return {{e.vertex, e.from, 0, 0, padded_row::empty()}, e.distance};
    else
      return {e.vertex, e.from, 0, 0, padded_row::empty()};
  }
  /// Lowers the distances of the n vertices of a hop, one a lane, and expands those it has lowered.
  template <row_kind Rows, class Team>
  KARPOS_STEP_FUNCTION void expand(Team const& team, queues const& q, std::uint32_t hop,
                                   std::uint32_t n) const {
    tile const t = team.template this_tile<width>();
    auto const tiles = static_cast<std::uint32_t>(team.template tiles<width>());
    queue_entry const* const from = q.of_hop(hop);
    for (std::uint32_t first = static_cast<std::uint32_t>(team.template tile_rank<width>()) * width;
         first < n; first += tiles * width) {
      auto const rows = t.each([&](int lane) -> row {
        std::uint32_t const i = first + static_cast<std::uint32_t>(lane);
        return i < n ? claim<Rows>(from[i], hop) : no_row();
      });
      push_near<Rows>(t, rows, q, hop + 1);
      if (!t.ballot([&](int lane) { return rows[lane].begin < rows[lane].end; })) continue;
      // A long row would keep one lane busy alone: it counts as an overflow.
      if (t.ballot(
              [&](int lane) { return rows[lane].end - rows[lane].begin > tuned::lane_degree; })) {
        t.once([&] {
          return device::fetch_add(device::scratch(q.count + (hop + 1) % 3), overflow_mark);
        });
        return;
      }
      push_rows<Rows>(t, rows, q, hop + 1);
    }
  }
  /// Lowers the distance of a vertex, except in the first hop, while its neighbours are loaded.
  template <row_kind Rows>
  KARPOS_STEP_FUNCTION row claim(queue_entry e, std::uint32_t hop) const {
    row r = row_of(e);
    if constexpr (Rows == row_kind::padded)
      device::load_frozen(this->s->padded[e.vertex].neighbour, r.near.neighbour);
    else
      load_offsets(r);
    std::uint32_t const lowered = distance_in_hop(e, hop);
    std::uint32_t const before =
        hop == 0 ? ~0u : device::fetch_min(this->distance_of(e.vertex), lowered);
    if constexpr (Rows == row_kind::csr) load_near(r);
    if (before <= lowered) return no_row();
    if (Rows == row_kind::padded && r.near.is_long()) {
      r.near = padded_row::empty();
      load_offsets(r);
    }
    return r;
  }
  KARPOS_STEP_FUNCTION void load_offsets(row& r) const {
    r.begin = this->s->out.begin(r.vertex);
    r.end = this->s->out.end(r.vertex);
  }
  KARPOS_STEP_FUNCTION void load_near(row& r) const {
    edge const edges = Kokkos::min(r.end - r.begin, edge(padded_row::size));
    for (int i = 0; i < padded_row::size; ++i)
      if (static_cast<edge>(i) < edges)
        r.near.neighbour[i] = State::local(this->s->out.column[r.begin + static_cast<edge>(i)]);
    r.begin += edges;
  }
  template <row_kind Kind, class Rows>
  KARPOS_STEP_FUNCTION void push_near(tile const& t, Rows const& rows, queues const& q,
                                      std::uint32_t hop) const {
    push<Kind>(t, rows, t.each([&](int lane) {
      neighbours n;
      n.open = 0;
      for (int i = 0; i < padded_row::size; ++i) {
        n.vertex[i] = rows[lane].near.neighbour[i];
        n.open |=
            n.vertex[i] != padded_row::none && may_follow(rows[lane], n.vertex[i]) ? 1u << i : 0;
      }
      return n;
    }),
               q, hop);
  }
  template <row_kind Kind, class Rows>
  KARPOS_STEP_FUNCTION void push_rows(tile const& t, Rows const& rows, queues const& q,
                                      std::uint32_t hop) const {
    constexpr int at_once = tuned::neighbours_at_once;
    for (edge done = 0;
         t.ballot([&](int lane) { return done < rows[lane].end - rows[lane].begin; });
         done += at_once)
      push<Kind>(t, rows, t.each([&](int lane) {
        row const& r = rows[lane];
        edge const left = r.end - r.begin;
        neighbours n;
        n.open = 0;
        for (int i = 0; i < at_once; ++i) {
          edge const e = done + static_cast<edge>(i);
          n.vertex[i] = e < left ? State::local(this->s->out.column[r.begin + e]) : r.from;
        }
        for (int i = 0; i < at_once; ++i)
          n.open |= done + static_cast<edge>(i) < left && may_follow(r, n.vertex[i]) ? 1u << i : 0;
        return n;
      }),
                 q, hop);
  }
  /// Returns whether to follow the edge to v: not back to where the vertex was found from.
  KARPOS_STEP_FUNCTION bool may_follow(row const& r, local_vertex v) const {
    return v != r.from && this->s->follows(r.vertex, v);
  }
  /// Pushes the open neighbours of all lanes to the queue of a hop, and prefetches for that hop.
  template <row_kind Kind, class Rows, class Neighbours>
  KARPOS_STEP_FUNCTION void push(tile const& t, Rows const& rows, Neighbours const& found,
                                 queues const& q, std::uint32_t hop) const {
    constexpr int at_once = tuned::neighbours_at_once;
    auto const to_queue = q.template reserve<at_once>(
        t, hop, [&](int lane) { return found[lane].open & own_bits(found[lane]); });
    if constexpr (State::over_ranks)
      if (t.ballot([&](int lane) { return (found[lane].open & ~own_bits(found[lane])) != 0; }))
        t.each([&](int lane) { claim_open(found[lane], rows[lane], q); });
    if (!to_queue.any) return;
    std::uint32_t place = to_queue.first;
    for (int i = 0; i < at_once; ++i) {
      t.on(to_queue.lanes[i], [&](int lane) {
        std::uint32_t const to = place + static_cast<std::uint32_t>(to_queue.lanes[i].rank(lane));
        local_vertex const v = found[lane].vertex[i];
        device::prefetch_far(this->distance_of(v));
        if constexpr (Kind == row_kind::two_hops)
          device::prefetch_far(this->s->two_hop + v);
        else if constexpr (Kind == row_kind::padded)
          device::prefetch_far(this->s->padded + v);
        else
          device::prefetch_far(this->s->out.offset + v);
        if (to < q.capacity)
          q.of_hop(hop)[to] = make_entry(v, rows[lane].vertex, next_distance(rows[lane]));
      });
      place += static_cast<std::uint32_t>(to_queue.lanes[i].count());
    }
  }
  /// Returns the distance of the neighbours of an entry or row, which one device does not store.
  template <class Row>
  KARPOS_STEP_FUNCTION static std::uint32_t next_distance([[maybe_unused]] Row const& r) {
    if constexpr (State::over_ranks)
      return r.distance + 1;
    else
      return 0;
  }
  /// Returns the bits of the neighbours that this device owns.
  KARPOS_STEP_FUNCTION std::uint32_t own_bits([[maybe_unused]] neighbours const& n) const {
    if constexpr (State::over_ranks) {
      std::uint32_t own = 0;
      for (int i = 0; i < tuned::neighbours_at_once; ++i)
        own |= (n.open >> i & 1u) != 0 && this->s->is_own_word(n.vertex[i] / 32) ? 1u << i : 0;
      return own;
    } else {
      return ~0u;
    }
  }
  /// Over ranks: claims the open neighbours of a row that other ranks own.
  KARPOS_STEP_FUNCTION void claim_open(neighbours const& n, row const& r, queues const& q) const {
    std::uint32_t const others = n.open & ~own_bits(n);
    for (int i = 0; i < tuned::neighbours_at_once; ++i) {
      if ((others >> i & 1u) == 0) continue;
      rank_claim const c{n.vertex[i], r.distance + 1};
      std::uint32_t const at = device::fetch_add(device::scratch(&q.claims().count), 1u);
      if (at < team_claims::capacity) {
        q.claims().claim[at] = c;
        continue;
      }
      q.note(r.distance);
      this->s->store_claim(*this->p, device::fetch_add(&totals().claims, 1u), c);
    }
  }
  /// Over ranks: appends a team's claims to the rank's list. Adds the team's level to the totals.
  template <class Team>
  KARPOS_STEP_FUNCTION void list_claims(Team const& team, queues const& q) const {
    team_claims& all = q.claims();
    std::uint32_t const n = Kokkos::min(all.count, std::uint32_t(team_claims::capacity));
    if (n > 0) {
      if (team.rank() == 0) all.first_in_list = device::fetch_add(&totals().claims, n);
      team.barrier();
      for (std::uint32_t i = device::rank(team); i < n; i += device::size(team)) {
        q.note(all.claim[i].distance - 1);
        this->s->store_claim(*this->p, all.first_in_list + i, all.claim[i]);
      }
      team.barrier();
    }
    if (team.rank() == 0) device::fetch_min(&totals().final_level, ~all.level);
  }

  /// Lowers the distances of the vertices queued last, and lists those lowered. Returns: how many.
  template <class Team>
  KOKKOS_FUNCTION std::uint32_t list_last_hop(Team const& team, queues const& q,
                                              exploration const& found) const {
    team_list const out =
        list(1 - this->p->local_search.input, team.league_rank(), team.league_size());
    std::uint32_t const n = found.entries;
    std::uint32_t* const count = q.count + (found.steps + 1) % 3;  // cleared by the last step
    std::uint32_t const size = device::size(team);
    for (std::uint32_t first = 0; first < n; first += size) {
      std::uint32_t const i = first + device::rank(team);
      queue_entry const e = i < n ? q.of_hop(found.steps)[i] : make_entry(0, 0, 0);
      std::uint32_t const lowered = distance_in_hop(e, found.steps * found.hops_per_step);
      bool const won = i < n && device::fetch_min(this->distance_of(e.vertex), lowered) > lowered;
      std::uint32_t const at = team.append(count, won);
      if (won) out.entry[at] = e.vertex;
      if constexpr (State::over_ranks)
        if (won) q.note(lowered);
    }
    team.barrier();
    if (team.rank() == 0) *out.count = *count;
    return *count;
  }
};

}  // namespace karpos::detail::bfs
