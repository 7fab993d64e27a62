// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/frontier_walk.hpp"
#include "karpos/detail/sssp/start.hpp"

// A round of a wide frontier: applies a rule to each edge out of the near queue. The rule `relax`
// lowers distances; `parent_of_nearer` and `parent_of_equal` find parents once the distances are
// final.
//
// A rule first reads for several edges without writing, so that their loads overlap; then it
// claims. Its functions:
//
//   open(s, p, here, u, n)    returns how many of u's first edges to probe
//   look(s, p, here, e, v)    returns the distance that v would get from a vertex at distance
//                             `here`; `farthest`: ignore the edge
//   claim(s, p, u, v, label)  writes, and returns where v goes: nowhere, the near queue or the far
//                             queue

namespace karpos::detail::sssp {

enum class goes { nowhere, near, far };

/// Lowers the distances of neighbours.
template <class State>
struct relax {
  static constexpr char const* label = "karpos::sssp::relax";
  using word = typename State::word;

  KARPOS_STEP_FUNCTION static std::uint32_t open(State const& s, progress_of<State> const& p,
                                                 word here, local_vertex u, std::uint32_t degree) {
    return s.edges_below(u, degree, here, p.reach);
  }
  KARPOS_STEP_FUNCTION static word look(State const& s, progress_of<State> const& p, word here,
                                        typename State::edge e, local_vertex v) {
    word const to = s.along(here, e);
    return to < p.reach && to < device::load_cached(s.label + v) ? to : State::labels::farthest();
  }
  /// The thread that lowers a distance makes sure that the vertex is expanded with it.
  KARPOS_STEP_FUNCTION static goes claim(State const& s, progress_of<State> const& p, local_vertex,
                                         local_vertex v, word to) {
    word const before = device::fetch_min(s.label + v, to);
    if (before <= to) return goes::nowhere;
    if (to < p.threshold) return State::mark(s.near(1 - p.side()), v) ? goes::near : goes::nowhere;
    return before == State::labels::farthest() ? goes::far : goes::nowhere;
  }
};

/// Makes a vertex the parent of its neighbours on shortest paths that are farther than it.
template <class State>
struct parent_of_nearer {
  static constexpr char const* label = "karpos::sssp::parent_of_nearer";
  using word = typename State::word;

  KARPOS_STEP_FUNCTION static std::uint32_t open(State const&, progress_of<State> const&, word,
                                                 local_vertex, std::uint32_t degree) {
    return degree;
  }
  KARPOS_STEP_FUNCTION static word look(State const& s, progress_of<State> const&, word here,
                                        typename State::edge e, local_vertex v) {
    word const there = s.label[v];
    return here < there && State::labels::plus(here, s.weight[e]) == there
               ? there
               : State::labels::farthest();
  }
  KARPOS_STEP_FUNCTION static goes claim(State const& s, progress_of<State> const&, local_vertex u,
                                         local_vertex v, word) {
    using id =
        std::conditional_t<sizeof(typename State::vertex_id) == 4, std::uint32_t, std::uint64_t>;
    device::store_relaxed(reinterpret_cast<id*>(s.parent + v), static_cast<id>(State::global(u)));
    return goes::nowhere;
  }
};

/// Makes a vertex that has a parent the parent of vertices at the same distance, if an edge of
/// weight zero leads to them and they have none. Runs round by round, so that parents form no
/// cycle.
template <class State>
struct parent_of_equal {
  static constexpr char const* label = "karpos::sssp::parent_of_equal";
  using word = typename State::word;
  using vertex_id = typename State::vertex_id;
  using id = std::conditional_t<sizeof(vertex_id) == 4, std::uint32_t, std::uint64_t>;

  KARPOS_STEP_FUNCTION static id* parent(State const& s, local_vertex v) {
    return reinterpret_cast<id*>(s.parent + v);
  }
  KARPOS_STEP_FUNCTION static std::uint32_t open(State const&, progress_of<State> const&, word,
                                                 local_vertex, std::uint32_t degree) {
    return degree;
  }
  KARPOS_STEP_FUNCTION static word look(State const& s, progress_of<State> const&, word here,
                                        typename State::edge e, local_vertex v) {
    word const there = s.label[v];
    bool const tight = here == there && State::labels::plus(here, s.weight[e]) == there &&
                       device::load_relaxed(parent(s, v)) == static_cast<id>(State::no_parent);
    return tight ? there : State::labels::farthest();
  }
  KARPOS_STEP_FUNCTION static goes claim(State const& s, progress_of<State> const&, local_vertex u,
                                         local_vertex v, word) {
    auto const none = static_cast<id>(State::no_parent);
    return device::compare_and_swap(parent(s, v), none, static_cast<id>(State::global(u))) == none
               ? goes::near
               : goes::nowhere;
  }
};

template <class StateHandle, class ProgressHandle, template <class> class Rule>
struct expand : bfs::frontier_walk<StateHandle, ProgressHandle> {
  using walk = bfs::frontier_walk<StateHandle, ProgressHandle>;
  using typename walk::State;
  using typename walk::tile;
  using walk::at_once;
  using walk::p;
  using walk::s;
  using walk::width;
  using rule = Rule<State>;
  using word = typename State::word;
  static constexpr char const* label = rule::label;

  std::uint64_t work() const { return p->frontier.edges + p->frontier.queued(); }

  template <class Team>
  KARPOS_STEP_FUNCTION void operator()(Team& team) const {
    s->clear_next(team, *p);
    tile const t = team.template this_tile<width>();
    bins<State> found(team, t, *s, *p, p->split);
    this->for_each_chunk(team, t, [&](chunk const& all) {
      chunk const k = this->cut(t, all, [&](row const& r) {
        if (all.first == 0) State::unmark(s->near(p->side()), r.vertex);
        device::prefetch(s->weight + r.begin);
        return rule::open(*s, *p, label_of(r.vertex), r.vertex, r.degree);
      });
      if constexpr (State::tuned::balances_lanes)
        this->expand_balanced(t, k, [&](auto const& edge_at) { visit(t, found, edge_at); });
      else
        expand_rows(t, k, found);
    });
    found.flush(t);
  }

 private:
  using typename walk::chunk;
  using typename walk::edge;
  using typename walk::row;
  using walk::tile_edges;

  /// Returns the distance of a vertex. An old one is good enough: the thread that has lowered it
  /// since puts the vertex into the next queue.
  KARPOS_STEP_FUNCTION word label_of(local_vertex u) const {
    return device::load_cached(s->label + u);
  }
  /// Bits of a lane's edges whose ends enter the near queue and the far queue.
  struct won {
    std::uint32_t near, far;
  };
  template <class EdgeAt>
  KARPOS_STEP_FUNCTION void visit(tile const& t, bins<State>& found, EdgeAt const& edge_at) const {
    auto const w =
        t.each([&](int lane) { return visit_on_lane([&](int i) { return edge_at(lane, i); }); });
    auto const vertex = [&](int lane, int i) {
      return State::local(s->out.column[edge_at(lane, i).where]);
    };
    found.near.push(t, t.each([&](int lane) { return w[lane].near; }), vertex);
    found.far.push(t, t.each([&](int lane) { return w[lane].far; }), vertex);
  }
  template <class EdgeAt>
  KARPOS_STEP_FUNCTION won visit_on_lane(EdgeAt const& edge_at) const {
    local_vertex v[at_once];
    word to[at_once];
    won w{0, 0};
    for (int i = 0; i < at_once; ++i)
      v[i] = edge_at(i).exists ? State::local(s->out.column[edge_at(i).where]) : 0;
    for (int i = 0; i < at_once; ++i)
      to[i] = edge_at(i).exists
                  ? rule::look(*s, *p, label_of(edge_at(i).from), edge_at(i).where, v[i])
                  : State::labels::farthest();
    for (int i = 0; i < at_once; ++i) {
      if (to[i] == State::labels::farthest()) continue;
      goes const where = rule::claim(*s, *p, edge_at(i).from, v[i], to[i]);
      w.near |= where == goes::near ? 1u << i : 0;
      w.far |= where == goes::far ? 1u << i : 0;
    }
    return w;
  }

  /// Edges that a CPU thread claims together; listed first, without a branch on their state.
  struct candidates {
    static constexpr int most = 256;
    local_vertex vertex[most], from[most];
    word to[most];
    int count = 0;
  };
  /// CPUs: expands the rows of a chunk one after the other.
  KARPOS_STEP_FUNCTION void expand_rows(tile const& t, chunk const& k, bins<State>& found) const {
    candidates list;
    bool const few = p->reach < State::labels::farthest();
    for (int lane = 0; lane < (k.single ? 1 : width); ++lane) {
      row const r = t.get(k.rows, lane);
      word const here = r.degree == 0 ? 0 : label_of(r.vertex);
      for (std::uint32_t done = k.first; done < r.degree; done += k.single ? k.step : tile_edges) {
        edge const end = r.begin + Kokkos::min(done + tile_edges, r.degree);
        for (edge e = r.begin + done; e < end; ++e) {
          local_vertex const v = State::local(s->out.column[e]);
          word const to = rule::look(*s, *p, here, e, v);
          if (few && to == State::labels::farthest()) continue;
          list.vertex[list.count] = v;
          list.from[list.count] = r.vertex;
          list.to[list.count] = to;
          list.count += to != State::labels::farthest() ? 1 : 0;
          if (list.count == candidates::most) claim_all(t, list, found);
        }
      }
    }
    claim_all(t, list, found);
  }
  KARPOS_STEP_FUNCTION void claim_all(tile const& t, candidates& list, bins<State>& found) const {
    for (int i = 0; i < list.count; ++i) {
      goes const where = rule::claim(*s, *p, list.from[i], list.vertex[i], list.to[i]);
      if (where == goes::near) found.near.push_one(t, list.vertex[i]);
      if (where == goes::far) found.far.push_one(t, list.vertex[i]);
    }
    list.count = 0;
  }
};

}  // namespace karpos::detail::sssp
