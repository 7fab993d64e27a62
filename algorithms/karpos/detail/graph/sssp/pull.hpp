// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/frontier/frontier_walk.hpp"
#include "karpos/detail/graph/sssp/start.hpp"

// Pulling: distances beyond a limit, the reach, are not pushed. A vertex that has no final distance
// when the queues are empty finds it among its own edges, so edges and weights must be the same in
// both directions. If a few hubs have most of the edges, most vertices lie beyond the reach, and
// most pushed edges would lead to a distance above the one that their end has already. The steps:
//
//   queue_beyond_reach
//                    queues, by degree class, the vertices without a distance below the reach: they
//                    have none, or one that was pushed before the reach was known
//   pull_first       first pass: each queued vertex lowers its own distance, by all neighbours.
//                    Later passes need not probe the neighbours below the reach again
//   pull_again       later passes, until one lowers nothing. A vertex is queued if it has an edge
//                    of weight w to a neighbour beyond the reach, and a distance above reach + w:
//                    that neighbour may still lower its distance
//   queue_pulled     after too many passes, as in a graph of long chains: moves all vertices with a
//                    distance beyond the reach to the far queue, to be pushed as if there were no
//                    reach
//
// Why distances are exact: vertices below the reach have their final distance, because all edges
// that could lower a distance to below the reach were pushed. In a pass that lowers nothing, all
// edges that could lower a distance were probed with the current distances.

namespace karpos::detail::sssp {

/// Queues the vertices with a distance beyond the reach: in the next far queue, or (ToNear) in the
/// near queue, with the vertices that have no distance yet.
template <class StateHandle, class ProgressHandle, bool ToNear>
struct queue_beyond : step<StateHandle, ProgressHandle> {
  using base = step<StateHandle, ProgressHandle>;
  using base::width;
  using typename base::State;
  static constexpr char const* label =
      ToNear ? "karpos::sssp::queue_beyond_reach" : "karpos::sssp::queue_pulled";

  std::uint64_t work() const { return this->s->vertices; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    State const& state = *this->s;
    auto const& now = *this->p;
    auto const t = team.template this_tile<width>();
    state.clear_next(team, now);
    bins<State> found(team, t, state, now, now.split + (ToNear ? 0 : 1));
    auto const chosen = [&](std::uint64_t v) {
      auto const d = state.distance[v];
      return d >= now.reach && (ToNear ? state.out.degree(v) > 0 : d < State::traits::infinity());
    };
    if constexpr (ToNear)
      push_vertices(team, t, state, found.near, chosen);
    else
      push_vertices(team, t, state, found.far, chosen);
    found.flush(t);
    if constexpr (!ToNear)
      for_each_index<width>(team, state.words, [&](std::uint64_t w) {
        state.near_bits[0][w] = state.near_bits[1][w] = 0;  // marks of the pass that is not run
      });
  }
};
template <class StateHandle, class ProgressHandle>
using queue_beyond_reach = queue_beyond<StateHandle, ProgressHandle, true>;
template <class StateHandle, class ProgressHandle>
using queue_pulled = queue_beyond<StateHandle, ProgressHandle, false>;

template <class StateHandle, class ProgressHandle, bool First>
struct pull : frontier_walk<StateHandle, ProgressHandle> {
  using walk = frontier_walk<StateHandle, ProgressHandle>;
  using typename walk::State, typename walk::tile;
  using walk::at_once, walk::p, walk::s, walk::width;
  using word = typename State::word;
  using traits = typename State::traits;
  static constexpr char const* label = First ? "karpos::sssp::pull" : "karpos::sssp::pull_again";

  std::uint64_t work() const { return p->frontier.edges + p->frontier.queued(); }

  template <class Team>
  KARPOS_STEP_FUNCTION void operator()(Team& team) const {
    s->clear_next(team, *p);
    tile const t = team.template this_tile<width>();
    bins<State> found(team, t, *s, *p, p->split);
    bool lowered = false;
    this->for_each_chunk(team, t, [&](chunk const& k) {
      if constexpr (First)
        pull_chunk<true>(
            t, this->truncate(t, k, [&](row const& r) { return relax_lightest_edge(r, lowered); }),
            found, lowered);
      chunk const rest = this->truncate(t, k, [&](row const& r) {
        if (!First && k.first == 0) State::unmark(s->near(p->side()), r.vertex);
        device::prefetch(s->weight + r.begin);
        return s->edges_below(r.vertex, r.degree, p->reach,
                              device::load_relaxed(s->distance + r.vertex));
      });
      pull_chunk<false>(t, rest, found, lowered);
    });
    found.flush(t);
    if (lowered) device::store_relaxed(&s->fixed->last_lowering_pass, std::uint64_t(p->passes + 1));
  }

 private:
  using typename walk::chunk, typename walk::edge, typename walk::row;
  using walk::tile_edges;

  /// If rows are in order of weight, lowers the vertex's distance by its lightest edge. Returns:
  /// the number of edges that may lower it further.
  KARPOS_STEP_FUNCTION std::uint32_t relax_lightest_edge(row const& r, bool& lowered) const {
    device::prefetch(s->weight + r.begin);
    if (s->lighter == nullptr) return r.degree;
    word best = device::load_relaxed(s->distance + r.vertex);
    word const d_u = device::load_cached(s->distance + State::local(s->out.column[r.begin]));
    word const new_distance = d_u == traits::infinity() ? d_u : s->distance_via(d_u, r.begin);
    if (new_distance < best) {
      lowered |= device::fetch_min(s->distance + r.vertex, new_distance) > new_distance;
      best = new_distance;
    }
    return s->edges_below(r.vertex, r.degree, 0, best);
  }
  /// Lowers distances: by all neighbours, or by those beyond the reach, whose rows it queues.
  template <bool All>
  KARPOS_STEP_FUNCTION void pull_chunk(tile const& t, chunk const& k, bins<State>& found,
                                       bool& lowered) const {
    if constexpr (State::tuned::balances_lanes)
      this->expand_balanced(t, k, [&](auto const& edge_at) {
        auto const requeue = t.each([&](int lane) {
          return pull_on_lane<All>([&](int i) { return edge_at(lane, i); }, lowered);
        });
        if constexpr (!All)
          found.near.push(t, requeue, [&](int lane, int i) { return edge_at(lane, i).from; });
      });
    else
      pull_rows<All>(t, k, found, lowered);
  }

  /// Returns the smallest distance that a probed neighbour may have.
  template <bool All>
  KOKKOS_FUNCTION word min_neighbour_distance() const {
    return All ? 0 : p->reach;
  }
  /// Returns: bit i is set if the row of edge i must be queued.
  template <bool All, class EdgeAt>
  KARPOS_STEP_FUNCTION std::uint32_t pull_on_lane(EdgeAt const& edge_at, bool& lowered) const {
    word d_v[at_once], d_u[at_once];
    bool may_lower[at_once];
    for (int i = 0; i < at_once; ++i)
      d_v[i] = edge_at(i).exists ? device::load_relaxed(s->distance + edge_at(i).from) : 0;
    for (int i = 0; i < at_once; ++i)
      may_lower[i] = edge_at(i).exists &&
                     s->distance_via(min_neighbour_distance<All>(), edge_at(i).where) < d_v[i];
    for (int i = 0; i < at_once; ++i)
      d_u[i] =
          may_lower[i]
              ? device::load_cached(s->distance + State::local(s->out.column[edge_at(i).where]))
              : 0;
    std::uint32_t requeue = 0;
    for (int i = 0; i < at_once; ++i) {
      if (!may_lower[i] || (!All && d_u[i] < p->reach)) continue;
      if (!All && State::mark(s->near(1 - p->side()), edge_at(i).from)) requeue |= 1u << i;
      if (d_u[i] == traits::infinity()) continue;
      word const new_distance = s->distance_via(d_u[i], edge_at(i).where);
      if (new_distance < d_v[i] &&
          device::fetch_min(s->distance + edge_at(i).from, new_distance) > new_distance)
        lowered = true;
    }
    return requeue;
  }

  /// CPUs: pulls row after row, each with the best distance found so far.
  template <bool All>
  KARPOS_STEP_FUNCTION void pull_rows(tile const& t, chunk const& k, bins<State>& found,
                                      bool& lowered) const {
    for (int lane = 0; lane < (k.single ? 1 : width); ++lane) {
      row const r = t.get(k.rows, lane);
      if (r.degree == 0) continue;
      word const before = device::load_relaxed(s->distance + r.vertex);
      word best = before;
      bool may_lower = false;
      for (std::uint32_t done = k.first; done < r.degree; done += k.single ? k.step : tile_edges)
        pull_edges<All>(r.begin + done, r.begin + Kokkos::min(done + tile_edges, r.degree), best,
                        may_lower);
      if (best < before && device::fetch_min(s->distance + r.vertex, best) > best) lowered = true;
      if (may_lower && State::mark(s->near(1 - p->side()), r.vertex))
        found.near.push_one(t, r.vertex);
    }
  }
  template <bool All>
  KARPOS_STEP_FUNCTION void pull_edges(edge begin, edge end, word& best, bool& may_lower) const {
    for (edge e = begin; e < end; ++e) {
      if (s->distance_via(min_neighbour_distance<All>(), e) >= best) continue;
      word const d_u = device::load_relaxed(s->distance + State::local(s->out.column[e]));
      if (!All && d_u < p->reach) continue;
      if (!All) may_lower = true;
      if (d_u != traits::infinity()) best = Kokkos::min(best, s->distance_via(d_u, e));
    }
  }
};

template <class StateHandle, class ProgressHandle>
using pull_first = pull<StateHandle, ProgressHandle, true>;
template <class StateHandle, class ProgressHandle>
using pull_again = pull<StateHandle, ProgressHandle, false>;

}  // namespace karpos::detail::sssp
