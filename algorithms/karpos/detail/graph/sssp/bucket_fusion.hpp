// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/detail/graph/sssp/relax.hpp"
#include "karpos/device/team.hpp"

// Bucket fusion: in a round of a narrow frontier, each team explores several hops by itself before
// the grid synchronises. (The name is GAP's.) Nothing is undone here: any order of relaxations ends
// with the same distances, if the thread that lowers a distance makes sure that the vertex is
// expanded with it, now or in a later round.
//
//   team 0  |slice|hop 1|…|hop h| rest \  near queue,  / slice  team 0
//   team 1  |slice|hop 1|…|hop h| rest  > one grid    <  slice  team 1   next fused round
//   …                                  /  barrier      \ …
//
// An entry of a team's queues (queue.hpp) is dropped if its vertex has a lower distance by
// then. Entries that overflow the queue, and vertices of many edges, go to the near queue of the
// next round. Vertices beyond the bucket go to the far queue.

namespace karpos::detail::sssp {

template <class Word>
struct queue_entry {
  Word distance;
  local_vertex vertex, from;
};

/// Bytes in front of the entries of a team's queues: their counts, and padding.
inline constexpr std::size_t count_bytes = 64;
/// Bytes of the queues of a team; its tiles' bins follow them.
template <class ExecSpace, class Word>
inline constexpr std::size_t team_queue_bytes =
    count_bytes +
    2 * std::size_t(tuning<ExecSpace>::team_queue_entries) * sizeof(queue_entry<Word>);

template <class StateHandle, class ProgressHandle>
struct relax_in_teams : step<StateHandle, ProgressHandle> {
  using base = step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State, typename base::tile, typename base::word;
  using tuned = typename State::tuned;
  using edge = typename State::edge;
  using entry = queue_entry<word>;
  static constexpr char const* label = "karpos::sssp::relax_in_teams";
  static constexpr std::size_t team_bytes = team_queue_bytes<typename State::execution_space, word>;
  static constexpr int at_once = tuned::neighbours_at_once;
  static_assert(at_once <= 16);  // over ranks, words have two bits for each edge
  // A row too long for one lane goes to the near queue, and the next frontier is not narrow then.
  static_assert(tuned::lane_degree >= tuned::tile_degree);

  std::uint64_t work() const { return this->p->frontier.edges + this->p->frontier.queued(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    tile const t = team.template this_tile<width>();
    state.clear_next(team, *this->p);
    queues const q(team.scratch(), count_bytes, tuned::team_queue_entries);
    bins<State> found(team, t, state, *this->p, this->p->split, team_bytes);
    std::uint64_t edges = 0;
    std::uint32_t n = load_slice(team, q);
    std::uint32_t hop = 0;
    for (; hop < state.fusion_hops && n > 0; ++hop) {
      std::uint32_t const pushed = q.run_hop(team, hop, [&] {
        if constexpr (tuned::balances_lanes)
          expand_hop(team, t, q, hop, n, found, edges);
        else
          expand_serially(t, q, hop, n, found, edges);
      });
      n = Kokkos::min(pushed, q.capacity);
    }
    flush_queue(team, t, q.of_hop(hop), hop, n, found);
    found.flush(t);
    std::uint64_t all = 0;
    team.prefix_sum(edges, all);
    if (team.rank() == 0 && all > 0) device::add(&state.fixed->fused_edges, all);
  }

 private:
  using queues = team_queues<entry>;

  /// Loads an equal part of the near queue. Returns: the number of vertices.
  template <class Team>
  KOKKOS_FUNCTION std::uint32_t load_slice(Team const& team, queues const& q) const {
    State const& state = *this->s;
    auto const& now = *this->p;
    auto const [first, last] = slice_of(team, now.frontier.in_class[by_thread]);
    auto const n = static_cast<std::uint32_t>(last - first);
    local_vertex const* const from = state.segment(now, by_thread) + first;
    for (std::uint32_t i = device::rank(team); i < n; i += device::size(team)) {
      local_vertex const v = from[i];
      State::unmark(state.near(now.side()), v);
      q.first[i] = {device::load_relaxed(state.distance + v), v, v};
    }
    q.clear(team);
    team.barrier();
    return n;
  }

  /// Returns whether all teams together must expand a vertex: its row is too long for one lane, and
  /// its degree class makes the next round's frontier wide.
  KOKKOS_FUNCTION bool is_long(local_vertex v, std::uint64_t degree) const {
    return degree > tuned::lane_degree && this->s->class_of(v, degree) != by_thread;
  }

  /// CPUs, whose teams are one thread: expands one vertex after the other.
  KARPOS_STEP_FUNCTION void expand_serially(tile const& t, queues const& q, std::uint32_t hop,
                                            std::uint32_t n, bins<State>& found,
                                            std::uint64_t& edges) const {
    State const& state = *this->s;
    entry const* const from = q.of_hop(hop);
    entry* const to = q.of_hop(hop + 1);
    std::uint32_t pushed = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      entry const u = from[i];
      if (i + prefetch_distance < n) {
        edge const next = state.out.begin(from[i + prefetch_distance].vertex);
        device::prefetch(state.out.column + next);
        device::prefetch(state.weight + next);
      }
      if (device::load_relaxed(state.distance + u.vertex) != u.distance) continue;
      if (is_long(u.vertex, state.out.degree(u.vertex))) {
        if (mark_near(u.vertex) != 0) found.near.push_one(t, u.vertex);
        continue;
      }
      edges += state.out.degree(u.vertex);
      for (edge e = state.out.begin(u.vertex); e < state.out.end(u.vertex); ++e) {
        local_vertex const v = State::local(state.out.column[e]);
        word const d = state.distance_via(u.distance, e);
        if (d >= this->p->reach || d >= device::load_relaxed(state.distance + v)) continue;
        word const before = device::fetch_min(state.distance + v, d);
        if (before <= d) continue;
        if constexpr (State::over_ranks)
          if (!state.owns(v)) {
            if (state.mark_for_owner(v)) found.others.push_one(t, v);
            continue;
          }
        if (d >= this->p->threshold) {
          if (before == State::traits::infinity()) found.far.push_one(t, v);
        } else if (pushed < q.capacity) {
          device::prefetch(state.out.offset + v);
          to[pushed++] = {d, v, u.vertex};
        } else if (mark_near(v) != 0) {
          found.near.push_one(t, v);
        }
      }
    }
    q.count[(hop + 1) % 3] = pushed;
  }
  static constexpr std::uint32_t prefetch_distance = 8;  // entries whose rows are prefetched

  struct loaded_edges {
    local_vertex end[at_once];
    typename State::weight_type weight[at_once];
  };
  struct row {
    local_vertex vertex, from;
    word distance;
    edge begin, end;
    loaded_edges first;
  };
  KARPOS_STEP_FUNCTION loaded_edges load(edge begin, edge end, local_vertex padding) const {
    loaded_edges l;
    for (int i = 0; i < at_once; ++i) {
      bool const exists = static_cast<edge>(i) < end - begin;
      edge const e = begin + static_cast<edge>(i);
      l.end[i] = exists ? State::local(this->s->out.column[e]) : padding;
      l.weight[i] = exists ? this->s->weight[e] : 0;
    }
    return l;
  }
  /// Lowers the distance of a queue's vertex, unless it has it, while its first edges are loaded.
  KARPOS_STEP_FUNCTION row pop(entry const& e, std::uint32_t hop) const {
    State const& state = *this->s;
    edge const begin = state.out.begin(e.vertex), end = state.out.end(e.vertex);
    word const before = has_distances(hop)
                            ? device::load_relaxed(state.distance + e.vertex)
                            : device::fetch_min(state.distance + e.vertex, e.distance);
    loaded_edges const first = load(begin, end, e.from);
    bool const keep = has_distances(hop) ? before == e.distance : before > e.distance;
    return {e.vertex, e.from, e.distance, begin, keep ? end : begin, first};
  }
  template <class Team>
  KARPOS_STEP_FUNCTION void expand_hop(Team const& team, tile const& t, queues const& q,
                                       std::uint32_t hop, std::uint32_t n, bins<State>& found,
                                       std::uint64_t& edges) const {
    entry const* const from = q.of_hop(hop);
    for_each_piece<width, width>(team, n, [&](std::uint32_t first) {
      auto const loaded = t.each([&](int lane) -> row {
        std::uint32_t const i = first + static_cast<std::uint32_t>(lane);
        return i < n ? pop(from[i], hop) : row{0, 0, 0, 0, 0, load(0, 0, 0)};
      });
      auto const long_rows = t.ballot([&](int lane) {
        return is_long(loaded[lane].vertex, loaded[lane].end - loaded[lane].begin);
      });
      if (long_rows)
        found.near.push(t, t.each([&](int lane) {
          return long_rows.test(lane) ? mark_near(loaded[lane].vertex) : 0;
        }),
                        [&](int lane, int) { return loaded[lane].vertex; });
      auto const rows = t.each([&](int lane) {
        row r = loaded[lane];
        if (long_rows.test(lane)) r.end = r.begin;
        edges += r.end - r.begin;
        return r;
      });
      expand_rows(t, rows, q, hop + 1, found);
    });
  }
  /// Returns whether the vertices of a queue have their distances already. CPUs write a distance
  /// when they queue the vertex; GPUs when they pop it, so that its row is loaded meanwhile.
  KOKKOS_FUNCTION static bool has_distances(std::uint32_t hop) {
    return hop == 0 || !tuned::balances_lanes;
  }
  /// Lowers the distance of a queue's vertex to the entry's. Returns: whether it was higher before.
  KOKKOS_FUNCTION bool try_lower(entry const& e) const {
    return device::fetch_min(this->s->distance + e.vertex, e.distance) > e.distance;
  }
  /// Marks a vertex as stored in the near queue. Returns: 1 if the caller must append it, else 0.
  KOKKOS_FUNCTION std::uint32_t mark_near(local_vertex v) const {
    return State::mark(this->s->near(1 - this->p->side()), v) ? 1u : 0u;
  }

  /// Neighbours of a lane. Bit i of `inside` tells whether vertex[i] lies in the bucket; its
  /// distance is written when it is popped. before[i]: the former distance of a vertex beyond the
  /// bucket, requested before it is needed. Over ranks, bit 16 + i of `inside` tells whether
  /// another rank owns vertex[i]; its distance is lowered at once.
  struct relaxed_edges {
    local_vertex vertex[at_once];
    word distance[at_once], before[at_once];
    std::uint32_t inside;

    /// Returns the bits of the vertices beyond the bucket that are not in the far queue yet; over
    /// ranks, in the high half, those of vertices that enter the list of another rank.
    KARPOS_STEP_FUNCTION std::uint32_t new_far([[maybe_unused]] State const& s) const {
      std::uint32_t bits = 0;
      for (int i = 0; i < at_once; ++i) {
        if constexpr (State::over_ranks)
          if ((inside >> (16 + i) & 1u) != 0) {
            if (before[i] > distance[i] && s.mark_for_owner(vertex[i])) bits |= 1u << (16 + i);
            continue;
          }
        bits |= before[i] == State::traits::infinity() ? 1u << i : 0;
      }
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
        return relax_edges(r, r.end - begin, done == 0 ? r.first : load(begin, r.end, r.from));
      });
      auto const vertex = [&](int lane, int i) {
        return State::local(this->s->out.column[rows[lane].begin + done + static_cast<edge>(i)]);
      };
      auto const overflowed = push(t, rows, l, q, hop);
      found.near.push(t, overflowed, vertex);
      push_far(t, found, t.each([&](int lane) { return l[lane].new_far(*this->s); }), vertex);
    }
  }
  /// Computes the distances at the ends of the first `left` edges; lowers those beyond the bucket.
  KARPOS_STEP_FUNCTION relaxed_edges relax_edges(row const& r, edge left,
                                                 loaded_edges const& e) const {
    State const& state = *this->s;
    relaxed_edges l;
    l.inside = 0;
    for (int i = 0; i < at_once; ++i) {
      l.vertex[i] = e.end[i];
      l.distance[i] = static_cast<edge>(i) < left ? state.add_weight(r.distance, e.weight[i])
                                                  : State::traits::infinity();
      bool const may_relax = l.distance[i] < this->p->reach && l.vertex[i] != r.from;
      bool is_inside = l.distance[i] < this->p->threshold;
      if constexpr (State::over_ranks)
        if (may_relax && !state.owns(l.vertex[i])) {
          l.inside |= 1u << (16 + i);
          is_inside = false;
        }
      l.inside |= may_relax && is_inside ? 1u << i : 0;
      l.before[i] = may_relax && !is_inside
                        ? device::fetch_min(state.distance + l.vertex[i], l.distance[i])
                        : 0;
    }
    return l;
  }
  /// Pushes the vertices in the bucket to the team's queue of a hop; lowers the distances of those
  /// that overflow it. Returns: the overflowed ones that must enter the near queue.
  template <class Rows, class RelaxedEdges>
  KARPOS_STEP_FUNCTION auto push(tile const& t, Rows const& rows, RelaxedEdges const& l,
                                 queues const& q, std::uint32_t hop) const {
    auto const to_queue =
        q.template reserve<at_once>(t, hop, [&](int lane) { return l[lane].inside; });
    std::uint32_t place[at_once], next = to_queue.first;
    for (int i = 0; i < at_once; ++i) {
      place[i] = next;
      next += static_cast<std::uint32_t>(to_queue.lanes[i].count());
    }
    return t.each([&](int lane) -> std::uint32_t {
      std::uint32_t overflowed = 0;
      for (int i = 0; i < at_once; ++i) {
        auto const& lanes = to_queue.lanes[i];
        if (!lanes.test(lane)) continue;
        std::uint32_t const to = place[i] + static_cast<std::uint32_t>(lanes.rank(lane));
        entry const e{l[lane].distance[i], l[lane].vertex[i], rows[lane].vertex};
        if (to < q.capacity) {
          device::prefetch_far(this->s->distance + e.vertex);
          device::prefetch_far(this->s->out.offset + e.vertex);
          q.of_hop(hop)[to] = e;
        } else if (try_lower(e)) {
          overflowed |= mark_near(e.vertex) << i;
        }
      }
      return overflowed;
    });
  }

  /// Moves the vertices of the last hop to the near queue.
  template <class Team>
  KOKKOS_FUNCTION void flush_queue(Team const& team, tile const& t, entry const* from,
                                   std::uint32_t hop, std::uint32_t n, bins<State>& found) const {
    for_each_piece<width, width>(team, n, [&](std::uint32_t first) {
      auto const at = [&](int lane) { return first + static_cast<std::uint32_t>(lane); };
      auto const keep = t.each([&](int lane) -> std::uint32_t {
        if (at(lane) >= n) return 0;
        entry const e = from[at(lane)];
        bool const is_lower = has_distances(hop)
                                  ? device::load_relaxed(this->s->distance + e.vertex) == e.distance
                                  : try_lower(e);
        return is_lower ? mark_near(e.vertex) : 0;
      });
      found.near.push(t, keep, [&](int lane, int) { return from[at(lane)].vertex; });
    });
  }
};

}  // namespace karpos::detail::sssp
