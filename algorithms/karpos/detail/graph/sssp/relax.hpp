// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/frontier/frontier_walk.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/detail/graph/sssp/start.hpp"

// A round of a wide frontier: applies a rule to each edge out of the near queue. The rule `relax`
// lowers distances; `parent_of_nearer` and `parent_of_equal` find parents once the distances are
// final.
//
// A rule first reads for several edges without writing, so that their loads overlap; then it
// claims. Its functions:
//
//   edges_to_probe(s, p, d_u, u, n)      returns how many of u's first edges to probe
//   candidate_distance(s, p, d_u, e, v)  returns the distance that v would get from a vertex at
//                                        distance `d_u`; `infinity`: ignore the edge
//   claim(s, p, u, v, new_distance)      writes, and returns the queue that v must enter, or none
//   receive(s, p, row)                   claims an own vertex for another rank (over_ranks.hpp)

namespace karpos::detail::sssp {

/// others: the list of the rank that owns the vertex.
enum class target_queue { none, near, far, others };

/// Lowers the distances of neighbours.
template <class State>
struct relax {
  static constexpr char const* label = "karpos::sssp::relax";
  using word = typename State::word;

  KARPOS_STEP_FUNCTION static std::uint32_t edges_to_probe(State const& s,
                                                           progress_of<State> const& p, word d_u,
                                                           local_vertex u, std::uint32_t degree) {
    return s.edges_below(u, degree, d_u, p.reach);
  }
  KARPOS_STEP_FUNCTION static word candidate_distance(State const& s, progress_of<State> const& p,
                                                      word d_u, typename State::edge e,
                                                      local_vertex v) {
    word const new_distance = s.distance_via(d_u, e);
    return new_distance < p.reach && new_distance < device::load_cached(s.distance + v)
               ? new_distance
               : State::traits::infinity();
  }
  /// The thread that lowers a distance makes sure that the vertex is expanded with it.
  KARPOS_STEP_FUNCTION static target_queue claim(State const& s, progress_of<State> const& p,
                                                 local_vertex, local_vertex v, word new_distance) {
    word const before = device::fetch_min(s.distance + v, new_distance);
    if (before <= new_distance) return target_queue::none;
    if constexpr (State::over_ranks)
      if (!s.owns(v)) return s.mark_for_owner(v) ? target_queue::others : target_queue::none;
    if (new_distance < p.threshold)
      return State::mark(s.near(1 - p.side()), v) ? target_queue::near : target_queue::none;
    return before == State::traits::infinity() ? target_queue::far : target_queue::none;
  }

  /// A vertex and its distance, as a rank sends them to the owner.
  struct sent_row {
    word distance;
    local_vertex vertex;
  };
  KARPOS_STEP_FUNCTION static target_queue receive(State const& s, progress_of<State> const& p,
                                                   sent_row const& row) {
    return claim(s, p, row.vertex, row.vertex, row.distance);
  }
};

/// Makes a vertex the parent of its neighbours on shortest paths that are farther than it. Equal:
/// makes a vertex that has a parent the parent of vertices at the same distance, if an edge of
/// weight zero leads to them and they have none. That runs round by round, so that parents form no
/// cycle.
template <class State, bool Equal>
struct parent_of {
  static constexpr char const* label =
      Equal ? "karpos::sssp::parent_of_equal" : "karpos::sssp::parent_of_nearer";
  using word = typename State::word;
  using vertex_id = typename State::vertex_id;
  using id = std::conditional_t<sizeof(vertex_id) == 4, std::uint32_t, std::uint64_t>;

  KARPOS_STEP_FUNCTION static id* parent(State const& s, local_vertex v) {
    return reinterpret_cast<id*>(s.parent + v);
  }
  KARPOS_STEP_FUNCTION static std::uint32_t edges_to_probe(State const&, progress_of<State> const&,
                                                           word, local_vertex,
                                                           std::uint32_t degree) {
    return degree;
  }
  KARPOS_STEP_FUNCTION static word candidate_distance(State const& s, progress_of<State> const&,
                                                      word d_u, typename State::edge e,
                                                      local_vertex v) {
    word const d_v = s.distance[v];
    bool const is_candidate =
        (Equal ? d_u == d_v : d_u < d_v) && State::traits::plus(d_u, s.weight[e]) == d_v &&
        (!Equal || device::load_relaxed(parent(s, v)) == static_cast<id>(State::no_parent));
    return is_candidate ? d_v : State::traits::infinity();
  }
  KARPOS_STEP_FUNCTION static target_queue claim(State const& s, progress_of<State> const&,
                                                 local_vertex u, local_vertex v, word) {
    auto const none = static_cast<id>(State::no_parent), found = static_cast<id>(State::global(u));
    bool const won = Equal && device::compare_and_swap(parent(s, v), none, found) == none;
    if constexpr (!Equal) device::store_relaxed(parent(s, v), found);
    if constexpr (State::over_ranks)
      if (!s.owns(v))
        return (won || !Equal) && s.mark_for_owner(v) ? target_queue::others : target_queue::none;
    return won ? target_queue::near : target_queue::none;
  }

  /// A vertex and its parent if its distance is this one, as a rank sends them to the owner.
  struct sent_row {
    word distance;
    local_vertex vertex, from;
  };
  KARPOS_STEP_FUNCTION static target_queue receive(State const& s, progress_of<State> const& p,
                                                   sent_row const& row) {
    if (s.distance[row.vertex] != row.distance) return target_queue::none;
    return claim(s, p, row.from, row.vertex, row.distance);
  }
};
template <class State>
using parent_of_nearer = parent_of<State, false>;
template <class State>
using parent_of_equal = parent_of<State, true>;

template <class StateHandle, class ProgressHandle, template <class> class Rule>
struct expand : frontier_walk<StateHandle, ProgressHandle> {
  using walk = frontier_walk<StateHandle, ProgressHandle>;
  using typename walk::State, typename walk::tile;
  using walk::at_once, walk::p, walk::s, walk::width;
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
      chunk const k = this->truncate(t, all, [&](row const& r) {
        if (all.first == 0) State::unmark(s->near(p->side()), r.vertex);
        device::prefetch(s->weight + r.begin);
        return rule::edges_to_probe(*s, *p, distance_of(r.vertex), r.vertex, r.degree);
      });
      if constexpr (State::tuned::balances_lanes)
        this->expand_balanced(t, k, [&](auto const& edge_at) { visit(t, found, edge_at); });
      else
        expand_rows(t, k, found);
    });
    found.flush(t);
  }

 private:
  using typename walk::chunk, typename walk::edge, typename walk::row;
  using walk::tile_edges;

  /// Returns the distance of a vertex, or an old one: the thread that has lowered it since puts the
  /// vertex into the next queue.
  KARPOS_STEP_FUNCTION word distance_of(local_vertex u) const {
    return device::load_cached(s->distance + u);
  }
  /// Bits of a lane's edges whose ends enter the near queue and the far queue; over ranks, the high
  /// half of `far` has those whose ends enter the lists of other ranks.
  static_assert(at_once <= 16);
  struct queue_bits {
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
    push_far(t, found, t.each([&](int lane) { return w[lane].far; }), vertex);
  }
  template <class EdgeAt>
  KARPOS_STEP_FUNCTION queue_bits visit_on_lane(EdgeAt const& edge_at) const {
    local_vertex v[at_once];
    word new_distance[at_once];
    queue_bits w{0, 0};
    for (int i = 0; i < at_once; ++i)
      v[i] = edge_at(i).exists ? State::local(s->out.column[edge_at(i).where]) : 0;
    for (int i = 0; i < at_once; ++i)
      new_distance[i] = edge_at(i).exists
                            ? rule::candidate_distance(*s, *p, distance_of(edge_at(i).from),
                                                       edge_at(i).where, v[i])
                            : State::traits::infinity();
    for (int i = 0; i < at_once; ++i) {
      if (new_distance[i] == State::traits::infinity()) continue;
      target_queue const where = rule::claim(*s, *p, edge_at(i).from, v[i], new_distance[i]);
      w.near |= where == target_queue::near ? 1u << i : 0;
      w.far |= where == target_queue::far ? 1u << i : 0;
      if constexpr (State::over_ranks) w.far |= where == target_queue::others ? 1u << (16 + i) : 0;
    }
    return w;
  }

  /// Edges that a CPU thread claims together.
  struct relaxed_candidates : candidates {
    word new_distance[capacity];
  };
  /// CPUs: expands the rows of a chunk one after the other.
  KARPOS_STEP_FUNCTION void expand_rows(tile const& t, chunk const& k, bins<State>& found) const {
    relaxed_candidates list;
    bool const few = p->reach < State::traits::infinity();
    for (int lane = 0; lane < (k.single ? 1 : width); ++lane) {
      row const r = t.get(k.rows, lane);
      word const d_u = r.degree == 0 ? 0 : distance_of(r.vertex);
      for (std::uint32_t done = k.first; done < r.degree; done += k.single ? k.step : tile_edges) {
        edge const end = r.begin + Kokkos::min(done + tile_edges, r.degree);
        for (edge e = r.begin + done; e < end; ++e) {
          local_vertex const v = State::local(s->out.column[e]);
          word const new_distance = rule::candidate_distance(*s, *p, d_u, e, v);
          if (few && new_distance == State::traits::infinity()) continue;
          list.new_distance[list.count] = new_distance;
          list.add(v, r.vertex, new_distance != State::traits::infinity());
          if (list.is_full()) claim_all(t, list, found);
        }
      }
    }
    claim_all(t, list, found);
  }
  KARPOS_STEP_FUNCTION void claim_all(tile const& t, relaxed_candidates& list,
                                      bins<State>& found) const {
    int const n = list.drain();
    for (int i = 0; i < n; ++i) {
      target_queue const where =
          rule::claim(*s, *p, list.from[i], list.vertex[i], list.new_distance[i]);
      if (where == target_queue::near) found.near.push_one(t, list.vertex[i]);
      if (where == target_queue::far) found.far.push_one(t, list.vertex[i]);
      if constexpr (State::over_ranks)
        if (where == target_queue::others) found.others.push_one(t, list.vertex[i]);
    }
  }
};

template <class StateHandle, class ProgressHandle>
using relax_edges = expand<StateHandle, ProgressHandle, relax>;
template <class StateHandle, class ProgressHandle>
using find_nearer_parents = expand<StateHandle, ProgressHandle, parent_of_nearer>;
template <class StateHandle, class ProgressHandle>
using find_equal_parents = expand<StateHandle, ProgressHandle, parent_of_equal>;

}  // namespace karpos::detail::sssp
