// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/sssp/relax.hpp"

// A round of a narrow frontier: each team goes several hops by itself before all teams meet, as in the windows of bfs
// (detail/bfs/block_windows.hpp). Here nothing is ever taken back: any order of relaxations ends with the same labels, as long
// as whoever lowers a label sees to it that the vertex is expanded with it, now or in a later round.
//
//   team 0   |slice|hop 1|hop 2|…|hop h| what is left \                         / slice
//   team 1   |slice|hop 1|hop 2|…|hop h|   …           > near queue, one barrier <  slice     next window
//
// A hop's vertices lie in one of two queues in the team's scratch, with a label for each: an entry whose vertex has a lower one
// is dropped. What does not fit goes to the near queue of the next round, as do vertices of many
// edges; vertices beyond the bucket go to the far queue.

namespace karpos::detail::sssp {

template <class Word>
struct window_entry {
  Word label;
  local_vertex vertex, from;
};

/// Bytes of the queues of a team, in front of its tiles' bins.
template <class ExecSpace, class Word>
inline constexpr std::size_t window_bytes =
    64 + 2 * std::size_t(tuning<ExecSpace>::team_queue_entries) * sizeof(window_entry<Word>);

template <class StateHandle, class ProgressHandle>
struct relax_in_teams : step<StateHandle, ProgressHandle> {
  using base = step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State;
  using typename base::tile;
  using typename base::word;
  using tuned = typename State::tuned;
  using edge = typename State::edge;
  using entry = window_entry<word>;
  static constexpr char const* label = "karpos::sssp::relax_in_teams";
  static constexpr std::size_t team_bytes = window_bytes<typename State::execution_space, word>;
  static constexpr int at_once = tuned::neighbours_at_once;
  static constexpr std::uint32_t room = tuned::team_queue_entries;
  // A row too long for a window goes to the near queue, and is not narrow in the next round.
  static_assert(tuned::window_degree >= tuned::tile_degree);

  std::uint64_t work() const { return this->p->frontier.edges + this->p->frontier.queued(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    tile const t = team.template this_tile<width>();
    state.clear_next(team, *this->p);
    queues const q(team);
    bins<State> found(team, t, state, *this->p, this->p->split, team_bytes);
    std::uint64_t edges = 0;
    std::uint32_t n = load_slice(team, q);
    std::uint32_t hop = 0;
    for (; hop < state.window_hops && n > 0; ++hop) {
      if (team.rank() == 0) q.count[(hop + 2) % 3] = 0;
      if constexpr (tuned::balances_lanes)
        expand_hop(team, t, q, hop, n, found, edges);
      else
        expand_alone(t, q, hop, n, found, edges);
      team.barrier();
      n = Kokkos::min(q.count[(hop + 1) % 3], std::uint32_t(room));
    }
    leave(team, t, q.of_hop(hop), hop, n, found);
    found.flush(t);
    std::uint64_t all = 0;
    team.prefix_sum(edges, all);
    if (team.rank() == 0 && all > 0) device::add(state.window_edges, all);
  }

 private:
  /// The two queues of a team; count[k % 3]: what was to be pushed to that of hop k.
  struct queues {
    std::uint32_t* count;
    entry* first;
    template <class Team>
    KOKKOS_FUNCTION explicit queues(Team const& team)
        : count(reinterpret_cast<std::uint32_t*>(team.scratch())),
          first(reinterpret_cast<entry*>(team.scratch() + 64)) {}
    KOKKOS_FUNCTION entry* of_hop(std::uint32_t hop) const { return first + (hop % 2) * room; }
  };

  /// Takes an equal part of the near queue. Returns: how many vertices.
  template <class Team>
  KOKKOS_FUNCTION std::uint32_t load_slice(Team const& team, queues const& q) const {
    State const& state = *this->s;
    auto const& now = *this->p;
    auto const teams = static_cast<std::uint64_t>(team.league_size());
    auto const rank = static_cast<std::uint64_t>(team.league_rank());
    std::uint64_t const all = now.frontier.in_class[bfs::by_thread];
    std::uint64_t const first = all * rank / teams;
    auto const n = static_cast<std::uint32_t>(all * (rank + 1) / teams - first);
    local_vertex const* const from =
        state.queue + state.class_begin[bfs::by_thread] + now.head[bfs::by_thread] + first;
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < n;
         i += static_cast<std::uint32_t>(team.size())) {
      local_vertex const v = from[i];
      State::unmark(state.near(now.side()), v);
      q.first[i] = {device::load_relaxed(state.label + v), v, v};
    }
    if (team.rank() < 2) q.count[team.rank()] = 0;
    if (team.size() == 1) q.count[1] = 0;
    team.barrier();
    return n;
  }

  /// Whether a vertex is for all teams together: a row too long for a window, whose class keeps the next round from being narrow.
  KOKKOS_FUNCTION bool is_long(local_vertex v, std::uint64_t degree) const {
    return degree > tuned::window_degree && this->s->class_of(v, degree) != bfs::by_thread;
  }

  /// CPUs, whose teams are one thread: vertex after vertex.
  KARPOS_STEP_FUNCTION void expand_alone(tile const& t, queues const& q, std::uint32_t hop,
                                         std::uint32_t n, bins<State>& found,
                                         std::uint64_t& edges) const {
    State const& state = *this->s;
    entry const* const from = q.of_hop(hop);
    entry* const to = q.of_hop(hop + 1);
    std::uint32_t pushed = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      entry const u = from[i];
      if (i + ahead < n) {
        edge const next = state.out.begin(from[i + ahead].vertex);
        device::prefetch(state.out.column + next);
        device::prefetch(state.weight + next);
      }
      if (device::load_relaxed(state.label + u.vertex) != u.label) continue;
      if (is_long(u.vertex, state.out.degree(u.vertex))) {
        if (again(u.vertex) != 0) found.near.push_one(t, u.vertex);
        continue;
      }
      edges += state.out.degree(u.vertex);
      for (edge e = state.out.begin(u.vertex); e < state.out.end(u.vertex); ++e) {
        local_vertex const v = State::local(state.out.column[e]);
        word const d = state.along(u.label, e);
        if (d >= this->p->reach || d >= device::load_relaxed(state.label + v)) continue;
        word const before = device::fetch_min(state.label + v, d);
        if (before <= d) continue;
        if (d >= this->p->threshold) {
          if (before == State::labels::farthest()) found.far.push_one(t, v);
        } else if (pushed < room) {
          device::prefetch(state.out.offset + v);
          to[pushed++] = {d, v, u.vertex};
        } else if (again(v) != 0) {
          found.near.push_one(t, v);
        }
      }
    }
    q.count[(hop + 1) % 3] = pushed;
  }
  static constexpr std::uint32_t ahead = 8;  // entries whose rows are fetched

  /// Some edges of a row that have been loaded.
  struct loaded_edges {
    local_vertex end[at_once];
    typename State::weight_type weight[at_once];
  };
  struct row {
    local_vertex vertex, from;
    word label;
    edge begin, end;
    loaded_edges first;
  };
  KARPOS_STEP_FUNCTION loaded_edges load(edge begin, edge end, local_vertex otherwise) const {
    loaded_edges l;
    for (int i = 0; i < at_once; ++i) {
      bool const is_one = static_cast<edge>(i) < end - begin;
      edge const e = begin + static_cast<edge>(i);
      l.end[i] = is_one ? State::local(this->s->out.column[e]) : otherwise;
      l.weight[i] = is_one ? this->s->weight[e] : 0;
    }
    return l;
  }
  /// Labels a vertex of a queue, if it has not been; its first edges are on their way meanwhile.
  KARPOS_STEP_FUNCTION row take(entry const& e, std::uint32_t hop) const {
    State const& state = *this->s;
    edge const begin = state.out.begin(e.vertex), end = state.out.end(e.vertex);
    word const before = is_labelled(hop) ? device::load_relaxed(state.label + e.vertex)
                                         : device::fetch_min(state.label + e.vertex, e.label);
    loaded_edges const first = load(begin, end, e.from);
    bool const stands = is_labelled(hop) ? before == e.label : before > e.label;
    return {e.vertex, e.from, e.label, begin, stands ? end : begin, first};
  }
  template <class Team>
  KARPOS_STEP_FUNCTION void expand_hop(Team const& team, tile const& t, queues const& q,
                                       std::uint32_t hop, std::uint32_t n, bins<State>& found,
                                       std::uint64_t& edges) const {
    auto const tiles = static_cast<std::uint32_t>(team.template tiles<width>());
    entry const* const from = q.of_hop(hop);
    for (std::uint32_t first = static_cast<std::uint32_t>(team.template tile_rank<width>()) * width;
         first < n; first += tiles * width) {
      auto const loaded = t.each([&](int lane) -> row {
        std::uint32_t const i = first + static_cast<std::uint32_t>(lane);
        return i < n ? take(from[i], hop) : row{0, 0, 0, 0, 0, load(0, 0, 0)};
      });
      auto const leaves = t.ballot([&](int lane) {
        return is_long(loaded[lane].vertex, loaded[lane].end - loaded[lane].begin);
      });
      if (leaves)
        found.near.push(
            t, t.each([&](int lane) { return leaves.test(lane) ? again(loaded[lane].vertex) : 0; }),
            [&](int lane, int) { return loaded[lane].vertex; });
      auto const rows = t.each([&](int lane) {
        row r = loaded[lane];
        if (leaves.test(lane)) r.end = r.begin;
        edges += r.end - r.begin;
        return r;
      });
      expand_rows(t, rows, q, hop + 1, found);
    }
  }
  /// Whether the vertices of a queue have their labels. CPUs give them when they queue a vertex; GPUs when they take it out, so that
  /// its row is on its way meanwhile.
  KOKKOS_FUNCTION static bool is_labelled(std::uint32_t hop) {
    return hop == 0 || !tuned::balances_lanes;
  }
  /// Labels a vertex of a queue. Returns: whether its label has been lowered by that.
  KOKKOS_FUNCTION bool lowers(entry const& e) const {
    return device::fetch_min(this->s->label + e.vertex, e.label) > e.label;
  }
  /// Whether a vertex is to be put into the near queue, for it is not in it yet: 1 or 0.
  KOKKOS_FUNCTION std::uint32_t again(local_vertex v) const {
    return State::mark(this->s->near(1 - this->p->side()), v) ? 1u : 0u;
  }

  /// Neighbours of a lane: bit i of `inside` for vertex[i] in the bucket, which is labelled when it is taken from the queue; for others
  /// the label before it was lowered, which is asked for before it is needed.
  struct lowered {
    local_vertex vertex[at_once];
    word label[at_once], before[at_once];
    std::uint32_t inside;

    /// Bits of those beyond the bucket that are not in the far queue yet.
    KARPOS_STEP_FUNCTION std::uint32_t beyond() const {
      std::uint32_t bits = 0;
      for (int i = 0; i < at_once; ++i)
        bits |= before[i] == State::labels::farthest() ? 1u << i : 0;
      return bits;
    }
  };
  template <class Rows>
  KARPOS_STEP_FUNCTION void expand_rows(tile const& t, Rows const& rows, queues const& q,
                                        std::uint32_t hop, bins<State>& found) const {
    for (edge done = 0;
         t.ballot([&](int lane) { return done < rows[lane].end - rows[lane].begin; });
         done += at_once) {
      auto const l = t.each([&](int lane) {
        row const& r = rows[lane];
        edge const begin = r.begin + Kokkos::min(done, r.end - r.begin);
        return lower(r, r.end - begin, done == 0 ? r.first : load(begin, r.end, r.from));
      });
      auto const vertex = [&](int lane, int i) {
        return State::local(this->s->out.column[rows[lane].begin + done + static_cast<edge>(i)]);
      };
      auto const spilled = push(t, rows, l, q, hop);
      found.near.push(t, spilled, vertex);
      found.far.push(t, t.each([&](int lane) { return l[lane].beyond(); }), vertex);
    }
  }
  /// Lowers the labels at the first ends of `left` edges that lead beyond the bucket.
  KARPOS_STEP_FUNCTION lowered lower(row const& r, edge left, loaded_edges const& e) const {
    State const& state = *this->s;
    lowered l;
    l.inside = 0;
    for (int i = 0; i < at_once; ++i) {
      l.vertex[i] = e.end[i];
      l.label[i] = static_cast<edge>(i) < left ? state.farther(r.label, e.weight[i])
                                               : State::labels::farthest();
      bool const leads_on = l.label[i] < this->p->reach && l.vertex[i] != r.from;
      bool const is_inside = l.label[i] < this->p->threshold;
      l.inside |= leads_on && is_inside ? 1u << i : 0;
      l.before[i] =
          leads_on && !is_inside ? device::fetch_min(state.label + l.vertex[i], l.label[i]) : 0;
    }
    return l;
  }
  /// Puts what lies in the bucket into the team's queue of a hop. Returns: what did not fit, and is not in the near queue yet.
  template <class Rows, class Lowered>
  KARPOS_STEP_FUNCTION auto push(tile const& t, Rows const& rows, Lowered const& l, queues const& q,
                                 std::uint32_t hop) const {
    lane_mask<width> won[at_once];
    int total = 0;
    for (int i = 0; i < at_once; ++i) {
      won[i] = t.ballot([&](int lane) { return (l[lane].inside >> i & 1u) != 0; });
      total += won[i].count();
    }
    std::uint32_t place = total == 0 ? 0 : t.once([&] {
      return device::fetch_add(device::scratch(q.count + hop % 3),
                               static_cast<std::uint32_t>(total));
    });
    std::uint32_t places[at_once];
    for (int i = 0; i < at_once; ++i) {
      places[i] = place;
      place += static_cast<std::uint32_t>(won[i].count());
    }
    return t.each([&](int lane) -> std::uint32_t {
      std::uint32_t spilled = 0;
      for (int i = 0; i < at_once; ++i) {
        if (!won[i].test(lane)) continue;
        std::uint32_t const to = places[i] + static_cast<std::uint32_t>(won[i].rank(lane));
        entry const e{l[lane].label[i], l[lane].vertex[i], rows[lane].vertex};
        if (to < room) {
          device::prefetch_far(this->s->label + e.vertex);
          device::prefetch_far(this->s->out.offset + e.vertex);
          q.of_hop(hop)[to] = e;
        } else if (lowers(e)) {
          spilled |= again(e.vertex) << i;
        }
      }
      return spilled;
    });
  }

  /// Moves the vertices of the last hop to the near queue.
  template <class Team>
  KOKKOS_FUNCTION void leave(Team const& team, tile const& t, entry const* from, std::uint32_t hop,
                             std::uint32_t n, bins<State>& found) const {
    auto const tiles = static_cast<std::uint32_t>(team.template tiles<width>());
    for (std::uint32_t first = static_cast<std::uint32_t>(team.template tile_rank<width>()) * width;
         first < n; first += tiles * width) {
      auto const at = [&](int lane) { return first + static_cast<std::uint32_t>(lane); };
      auto const stands = t.each([&](int lane) -> std::uint32_t {
        if (at(lane) >= n) return 0;
        entry const e = from[at(lane)];
        bool const is_lower = is_labelled(hop)
                                  ? device::load_relaxed(this->s->label + e.vertex) == e.label
                                  : lowers(e);
        return is_lower ? again(e.vertex) : 0;
      });
      found.near.push(t, stands, [&](int lane, int) { return from[at(lane)].vertex; });
    }
  }
};

}  // namespace karpos::detail::sssp
