// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/frontier/frontier_walk.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/device/team.hpp"

// Top-down expansion: the vertices of the frontier claim their unvisited neighbours.
// frontier_walk.hpp divides the work among tiles. Terms (tile, team, lane, scratch): see state.hpp.

namespace karpos::detail::bfs {

/// How a top-down step stores the vertices that it finds.
enum class frontier_output {
  queue,       ///< claims them, and appends its own to the frontier queue
  count,       ///< claims and counts them: the next level is bottom-up and reads no queue
  status_bits  ///< sets their bits in visited[1 - current], without a claim, for a bitmap scan
};

/// Adds vertex(lane, i), for the bits i of won[lane], to a bin, which pushes or counts them.
template <class Tile, class Bin, class Won, class Vertex>
KARPOS_STEP_FUNCTION void add_found(frontier_output output, Tile const& t, Bin& found,
                                    Won const& won, Vertex const& vertex) {
  if (output == frontier_output::queue)
    found.push(t, won, vertex);
  else
    t.each([&](int lane) { found.count(lane_mask<32>(won[lane]).count()); });
}

/// Lists the vertices that a tile claims, whichever rank owns them, if progress::lists_claims. On
/// one device there is no such list.
template <class State, bool = State::over_ranks>
struct claim_list {
  static constexpr std::size_t bytes = 0;
  template <class Progress>
  KARPOS_STEP_FUNCTION claim_list(std::byte*, State const&, Progress const&) {}
  KARPOS_STEP_FUNCTION void push_one(typename State::tile const&, local_vertex) {}
  KARPOS_STEP_FUNCTION void flush(typename State::tile const&) {}
};
template <class State>
struct claim_list<State, true> {
  using tile = typename State::tile;
  static constexpr std::size_t bytes = list_bin<State>::bytes;
  template <class Progress>
  KARPOS_STEP_FUNCTION claim_list(std::byte* scratch, State const& s, Progress const& p)
      : m_bin(scratch, list_writer<State>(s.claims, &s.counters(p.level + 1).listed)),
        m_is_wanted(p.lists_claims) {}
  template <class Won, class Vertex>
  KARPOS_STEP_FUNCTION void push(tile const& t, Won const& won, Vertex const& vertex) {
    if (m_is_wanted) m_bin.push(t, won, vertex);
  }
  KARPOS_STEP_FUNCTION void push_one(tile const& t, local_vertex v) {
    if (m_is_wanted) m_bin.push_one(t, v);
  }
  KARPOS_STEP_FUNCTION void flush(tile const& t) { m_bin.flush(t); }

 private:
  list_bin<State> m_bin;
  bool m_is_wanted;
};

template <class StateHandle, class ProgressHandle>
struct expand_frontier : frontier_walk<StateHandle, ProgressHandle> {
  static constexpr char const* label = "karpos::bfs::expand";
  using walk = frontier_walk<StateHandle, ProgressHandle>;
  using typename walk::State, typename walk::tile;
  using walk::at_once, walk::p, walk::s, walk::width;
  static constexpr std::size_t tile_bytes = frontier_bin<State>::bytes + claim_list<State>::bytes;

  frontier_output output;

  std::uint64_t work() const { return p->frontier.edges + p->frontier.queued(); }

  template <class Team>
  KARPOS_STEP_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    std::byte* const scratch = team.template tile_scratch<width>(0, tile_bytes);
    tile_bins found{{scratch, frontier_writer<State>(t, *s, p->tail, &s->counters(p->level + 1),
                                                     is_latency_bound())},
                    {scratch + frontier_bin<State>::bytes, *s, *p}};
    this->for_each_chunk(team, t, [&](chunk const& k) {
      if constexpr (State::tuned::balances_lanes)
        this->expand_balanced(t, k, [&](auto const& edge_at) { claim(t, found, edge_at); });
      else
        expand_rows(t, k, found);
    });
    found.own.flush(t);
    found.claims.flush(t);
    if (output == frontier_output::count) found.own.add_counts(team, s->counters(p->level + 1));
  }

 private:
  struct tile_bins {
    frontier_bin<State> own;   // vertices that this device owns
    claim_list<State> claims;  // all that it has claimed
  };
  using typename walk::chunk, typename walk::edge, typename walk::row;
  using walk::tile_edges;

  /// CPUs: expands the rows of a chunk one after the other.
  KARPOS_STEP_FUNCTION void expand_rows(tile const& t, chunk const& k, tile_bins& found) const {
    candidates list;
    for (int lane = 0; lane < (k.single ? 1 : width); ++lane) {
      row const r = t.get(k.rows, lane);
      for (std::uint32_t done = k.first; done < r.degree; done += k.single ? k.step : tile_edges) {
        edge const end = r.begin + Kokkos::min(done + tile_edges, r.degree);
        for (edge e = r.begin + done; e < end; ++e) {
          local_vertex const v = State::local(s->out.column[e]);
          list.add(v, r.vertex, is_unvisited(v));
          if (list.is_full()) claim_all(t, list, found);
        }
      }
    }
    claim_all(t, list, found);
  }
  /// Claims the candidates in `list` and empties it.
  KARPOS_STEP_FUNCTION void claim_all(tile const& t, candidates& list, tile_bins& found) const {
    constexpr int ahead = 16;
    int const n = list.drain();
    for (int i = 0; i < n; ++i) {
      if (i + ahead < n) device::prefetch(s->distance + list.vertex[i + ahead]);
      local_vertex const v = list.vertex[i], from = list.from[i];
      if (!s->follows(from, v)) continue;
      if (sets_status_bits()) {
        s->propose_parent(v, from);
        device::set_bits(s->bitmap(1 - p->current) + v / 32, bit_of(v));
        continue;
      }
      if ((device::fetch_or(s->bitmap(p->current) + v / 32, bit_of(v)) & bit_of(v)) != 0) continue;
      found.claims.push_one(t, v);
      if (!s->discover(v, from, p->level + 1)) continue;
      if (output == frontier_output::count) {
        found.own.count(1);
        continue;
      }
      device::prefetch(s->out.offset + v);
      found.own.push_one(t, v);
    }
  }
  /// Claims the unvisited ends of the edges edge_at(lane, i), i < at_once; pushes or counts them.
  template <class EdgeAt>
  KARPOS_STEP_FUNCTION void claim(tile const& t, tile_bins& found, EdgeAt const& edge_at) const {
    auto const won =
        t.each([&](int lane) { return claim_on_lane([&](int i) { return edge_at(lane, i); }); });
    auto const vertex = [&](int lane, int i) {
      return State::local(s->out.column[edge_at(lane, i).where]);
    };
    if constexpr (State::over_ranks) {
      found.claims.push(t, t.each([&](int lane) { return won[lane] >> 16; }), vertex);
      add_found(output, t, found.own, t.each([&](int lane) { return won[lane] & 0xffffu; }),
                vertex);
    } else {
      add_found(output, t, found.own, won, vertex);
    }
  }
  /// Claims the end points of one lane's edges. All its loads come before all its claims, so that
  /// they overlap. Returns: bit i is set if this lane has claimed end point i, and this device owns
  /// it; over ranks, bit 16 + i is set if this lane has claimed end point i, of any owner.
  template <class EdgeAt>
  KARPOS_STEP_FUNCTION std::uint32_t claim_on_lane(EdgeAt const& edge_at) const {
    local_vertex v[at_once];
    std::uint32_t before[at_once], open = 0, won = 0;
    for (int i = 0; i < at_once; ++i)
      v[i] = edge_at(i).exists ? State::local(s->out.column[edge_at(i).where]) : 0;
    for (int i = 0; i < at_once; ++i)
      if (is_latency_bound() && edge_at(i).exists && s->is_own_word(v[i] / 32))
        device::prefetch_far(s->out.offset + v[i]);
    for (int i = 0; i < at_once; ++i)
      if (edge_at(i).exists && (is_latency_bound() || is_unvisited(v[i])) &&
          s->follows(edge_at(i).from, v[i]))
        open |= 1u << i;
    if (sets_status_bits()) {
      set_status_bits(v, open, [&](int i) { return edge_at(i).from; });
      return 0;
    }
    for (int i = 0; i < at_once; ++i)
      before[i] = (open >> i & 1u) != 0
                      ? device::fetch_or(s->bitmap(p->current) + v[i] / 32, bit_of(v[i]))
                      : ~0u;
    for (int i = 0; i < at_once; ++i)
      if ((before[i] & bit_of(v[i])) == 0) {
        if (s->discover(v[i], edge_at(i).from, p->level + 1)) won |= 1u << i;
        if constexpr (State::over_ranks) won |= 1u << (16 + i);
      }
    return won;
  }
  static_assert(at_once <= 16);
  /// Ranks never scan their frontiers.
  KARPOS_STEP_FUNCTION bool sets_status_bits() const {
    return !State::over_ranks && output == frontier_output::status_bits;
  }
  /// Returns whether the frontier is so small that latency bounds it. Such a step claims without
  /// reading the status bitmap first, and prefetches the rows that enqueueing will need.
  KARPOS_STEP_FUNCTION bool is_latency_bound() const {
    return output == frontier_output::queue &&
           p->frontier.edges < State::tuned::latency_bound_edges;
  }
  KARPOS_STEP_FUNCTION bool is_unvisited(local_vertex v) const {
    return (device::load_relaxed(s->bitmap(p->current) + v / 32) & bit_of(v)) == 0;
  }
  template <class From>
  KARPOS_STEP_FUNCTION void set_status_bits(local_vertex const (&v)[at_once], std::uint32_t open,
                                            From const& from) const {
    for (int i = 0; i < at_once; ++i)
      if ((open >> i & 1u) != 0) {
        s->propose_parent(v[i], from(i));
        device::set_bits(s->bitmap(1 - p->current) + v[i] / 32, bit_of(v[i]));
      }
  }
};

/// Expands a small frontier, which is bound by latency: few vertices, all of the class by_thread.
/// Neighbouring vertices go to different teams. A lane claims the neighbours of one vertex without
/// reading the status bitmap first. A step of its own has few instructions: a level of a road
/// network takes some microseconds. Requires: this device owns all vertices.
template <class StateHandle, class ProgressHandle>
struct expand_small_frontier {
  static constexpr char const* label = "karpos::bfs::expand_small_frontier";
  using State = typename StateHandle::state;
  static constexpr int width = State::width, at_once = State::tuned::neighbours_at_once;
  using tile = typename State::tile;
  using edge = typename State::edge;
  using tile_bin = frontier_bin<State>;

  StateHandle s;
  ProgressHandle p;

  template <class Team>
  KARPOS_STEP_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    std::uint32_t const count = p->frontier.in_class[by_thread];
    auto const teams = static_cast<std::uint32_t>(team.league_size());
    auto const stride = teams * static_cast<std::uint32_t>(team.template tiles<width>() * width);
    std::uint32_t const first =
        static_cast<std::uint32_t>(team.template tile_rank<width>() * width) * teams +
        static_cast<std::uint32_t>(team.league_rank());
    if (first >= count) return;
    tile_bin found(team.template tile_scratch<width>(0, tile_bin::bytes),
                   frontier_writer<State>(t, *s, p->tail, &s->counters(p->level + 1), true));
    for (std::uint32_t i = first; i < count; i += stride) expand(t, i, teams, count, found);
    found.flush(t);
  }

 private:
  struct row {
    local_vertex vertex;
    edge begin, end;
  };
  /// Expands the vertices first, first + stride, … of the frontier, one for each lane.
  KARPOS_STEP_FUNCTION void expand(tile const& t, std::uint32_t first, std::uint32_t stride,
                                   std::uint32_t count, tile_bin& found) const {
    local_vertex const* const from = s->segment(*p, by_thread);
    auto const rows = t.each([&](int lane) -> row {
      std::uint32_t const i = first + static_cast<std::uint32_t>(lane) * stride;
      if (i >= count) return {0, 0, 0};
      local_vertex const v = from[i];
      return {v, s->out.begin(v), s->out.end(v)};
    });
    for (edge done = 0;
         t.ballot([&](int lane) { return rows[lane].begin + done < rows[lane].end; });
         done += at_once) {
      auto const won = t.each([&](int lane) { return claim(rows[lane], done); });
      found.push(t, won, [&](int lane, int i) {
        return State::local(s->out.column[rows[lane].begin + done + static_cast<edge>(i)]);
      });
    }
  }
  /// Returns: bit i is set if this lane has claimed the end point of the row's edge done + i.
  KARPOS_STEP_FUNCTION std::uint32_t claim(row const& r, edge done) const {
    local_vertex v[at_once];
    std::uint32_t before[at_once], won = 0;
    for (int i = 0; i < at_once; ++i) {
      edge const e = r.begin + done + static_cast<edge>(i);
      v[i] = e < r.end ? State::local(s->out.column[e]) : 0;
      before[i] = e < r.end && s->follows(r.vertex, v[i]) ? 0 : ~0u;
    }
    for (int i = 0; i < at_once; ++i)
      if (before[i] == 0) {
        device::prefetch_far(s->out.offset + v[i]);
        before[i] = device::fetch_or(s->bitmap(p->current) + v[i] / 32, bit_of(v[i]));
      }
    for (int i = 0; i < at_once; ++i)
      if ((before[i] & bit_of(v[i])) == 0) {
        s->discover(v[i], r.vertex, p->level + 1);
        won |= 1u << i;
      }
    return won;
  }
};

}  // namespace karpos::detail::bfs
