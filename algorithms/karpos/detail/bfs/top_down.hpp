// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/progress.hpp"
#include "karpos/detail/bfs/queue.hpp"
#include "karpos/device/team.hpp"

// Top-down: the vertices of the frontier look for unvisited neighbours.
//
// A vertex is expanded by as many lanes as its degree class says. All classes are part of the same step, the largest
// first, so that they overlap. A tile takes one chunk after the other:
//   by_grid    a vertex is cut into so many chunks that the whole grid works on it
//   by_team    a vertex is cut into one chunk for each tile of a team
//   by_tile    a vertex is a chunk
//   by_thread  as many vertices as a tile has lanes are a chunk

namespace karpos::detail::bfs {

/// What a top-down level leaves behind for the next one.
enum class keep {
  queue,    ///< the vertices found, in the queue
  nothing,  ///< their number: the next level goes bottom-up and needs no more
  marks     ///< their bits in the other bitmap, for a scan to find them
};

template <class StateHandle, class ProgressHandle>
struct expand_frontier {
  static constexpr char const* label = "karpos::bfs::expand";
  using State = typename StateHandle::state;
  static constexpr int width = State::width, at_once = State::tuned::neighbours_at_once;
  using tile = typename State::tile;
  static constexpr std::size_t tile_bytes = queue_bin<State>::bytes;

  StateHandle s;
  ProgressHandle p;
  keep what;

  std::uint64_t work() const { return p->frontier.edges + p->frontier.queued(); }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    queue_bin<State> found(team.template tile_scratch<width>(0, tile_bytes),
                           queue_end<State>(t, *s, p->tail, &s->counters(p->level + 1), eager()));
    cut const c =
        cut_for(static_cast<std::uint32_t>(team.league_size() * team.template tiles<width>()),
                static_cast<std::uint32_t>(team.template tiles<width>()));
    team.template for_each_tile<width>(c.chunks(), [&](std::uint64_t i) {
      expand_chunk(t, c, static_cast<std::uint32_t>(i), found);
    });
    found.place(t);
    if (what == keep::nothing) found.publish(team, s->counters(p->level + 1));
  }

 private:
  using edge = typename State::edge;
  /// Edges that a tile looks at at once.
  static constexpr std::uint32_t tile_edges = width * at_once;

  /// How the frontier is cut into chunks: where few vertices would leave tiles idle, chunks are smaller.
  struct cut {
    std::uint32_t parts_by_grid, parts_by_team, parts_by_tile;  // chunks of a vertex
    std::uint32_t rows;                                         // vertices of a chunk by_thread
    std::uint32_t of_grid, of_team, of_tile, of_thread;         // chunks of each class
    KOKKOS_FUNCTION std::uint32_t chunks() const { return of_grid + of_team + of_tile + of_thread; }
  };
  KOKKOS_FORCEINLINE_FUNCTION cut cut_for(std::uint32_t tiles, std::uint32_t team_tiles) const {
    auto const parts = [&](int c, std::uint32_t least, std::uint32_t most) {
      std::uint32_t const n = count(c) == 0 ? 1 : tiles / count(c);
      std::uint32_t const wanted = n < least ? least : n > most ? most : n;
      constexpr std::uint32_t chunks = 1u << 30;  // of a class, lest their number overflows
      return count(c) <= chunks / wanted ? wanted : chunks / count(c) + 1;
    };
    cut c{};
    c.parts_by_grid = parts(by_grid, 512, 4096);
    c.parts_by_team = parts(by_team, team_tiles, State::tuned::grid_degree / tile_edges + 1);
    c.parts_by_tile = parts(by_tile, 1, State::tuned::team_degree / tile_edges + 1);
    std::uint32_t const rows = count(by_thread) / tiles + 1;
    c.rows = rows < width && device::is_device<typename State::execution_space> ? rows : width;
    c.of_grid = count(by_grid) * c.parts_by_grid;
    c.of_team = count(by_team) * c.parts_by_team;
    c.of_tile = count(by_tile) * c.parts_by_tile;
    c.of_thread = (count(by_thread) + c.rows - 1) / c.rows;
    return c;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t count(int c) const { return p->frontier.in_class[c]; }

  struct row {
    std::uint32_t vertex, degree;
    edge begin;
  };
  /// Rows, one on each lane: the tile goes through the edges of all, from `first` in steps of `step`.
  struct chunk {
    typename tile::template varying<row> rows;
    std::uint32_t first, step;
    bool single;  // there is one row, on lane 0
  };

  KOKKOS_FORCEINLINE_FUNCTION void expand_chunk(tile const& t, cut const& c, std::uint32_t i,
                                                queue_bin<State>& found) const {
    chunk const k = chunk_of(t, c, i);
    if constexpr (State::tuned::rows_in_turn) {
      rows_in_turn(t, k, found);
    } else if (k.single) {
      one_row(t, k, found);
    } else {
      rows_by_lane(t, k, found);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION chunk chunk_of(tile const& t, cut const& c, std::uint32_t i) const {
    if (i >= c.of_grid + c.of_team + c.of_tile) {
      std::uint32_t const first = (i - c.of_grid - c.of_team - c.of_tile) * c.rows;
      std::uint32_t const left = count(by_thread) - first;
      return {load_rows(t, by_thread, first, left < c.rows ? left : c.rows), 0, tile_edges, false};
    }
    int which = by_grid;
    std::uint32_t parts = c.parts_by_grid;
    if (i >= c.of_grid + c.of_team) {
      i -= c.of_grid + c.of_team;
      which = by_tile;
      parts = c.parts_by_tile;
    } else if (i >= c.of_grid) {
      i -= c.of_grid;
      which = by_team;
      parts = c.parts_by_team;
    }
    return {load_rows(t, which, i / parts, 1), i % parts * tile_edges, parts * tile_edges, true};
  }
  /// The vertices first … first + n - 1 of a class, one for each lane.
  KOKKOS_FORCEINLINE_FUNCTION auto load_rows(tile const& t, int which, std::uint32_t first,
                                             std::uint32_t n) const {
    std::uint32_t const* const from =
        s->queue + static_cast<std::uint32_t>(s->class_begin[which]) + p->head[which] + first;
    return t.each([&](int lane) -> row {
      if (static_cast<std::uint32_t>(lane) >= n) return {0, 0, 0};
      std::uint32_t const v = from[lane];
      row const r{v, static_cast<std::uint32_t>(s->out.degree(v)), s->out.begin(v)};
      device::prefetch(s->out.column + r.begin);
      return r;
    });
  }

  /// CPUs: the lanes take the edges of one row in turn.
  KOKKOS_FORCEINLINE_FUNCTION void one_row(tile const& t, chunk const& k,
                                           queue_bin<State>& found) const {
    row const r = t.get(k.rows, 0);
    for (std::uint32_t done = k.first; done < r.degree; done += k.step)
      claim(t, found, [&](int lane, int i) -> candidate {
        std::uint32_t const mine = done + static_cast<std::uint32_t>(i * width + lane);
        return {r.vertex, r.begin + mine, mine < r.degree};
      });
  }
  /// CPUs: each lane takes the edges of a row of its own.
  KOKKOS_FORCEINLINE_FUNCTION void rows_by_lane(tile const& t, chunk const& k,
                                                queue_bin<State>& found) const {
    for (std::uint32_t done = 0; t.ballot([&](int lane) { return done < k.rows[lane].degree; });
         done += at_once)
      claim(t, found, [&](int lane, int i) -> candidate {
        std::uint32_t const mine = done + static_cast<std::uint32_t>(i);
        row const& r = k.rows[lane];
        return {r.vertex, r.begin + mine, mine < r.degree};
      });
  }
  /// GPUs: the lanes take the edges of all rows, one row after the other, in turn: none waits for the longest row,
  /// and neighbouring lanes read neighbouring edges.
  KOKKOS_FORCEINLINE_FUNCTION void rows_in_turn(tile const& t, chunk const& k,
                                                queue_bin<State>& found) const {
    auto const start = t.prefix_sum(t.each([&](int lane) { return k.rows[lane].degree; }));
    auto const shift = t.each([&](int lane) { return k.rows[lane].begin - start.before[lane]; });
    auto const vertex_of = t.each([&](int lane) { return k.rows[lane].vertex; });
    for (std::uint32_t done = k.first; done < start.total; done += k.step) {
      typename tile::template varying<candidate> next[at_once];
      for (int i = 0; i < at_once; ++i) {
        auto const slot = [&](int lane) {
          return done + static_cast<std::uint32_t>(i * width + lane);
        };
        auto const owner =
            k.single ? t.each([](int) { return 0; }) : last_not_above(t, start.before, slot);
        auto const from = [&](int lane) { return owner[lane]; };
        auto const u = t.gather(vertex_of, from);
        auto const e = t.gather(shift, from);
        next[i] = t.each([&](int lane) -> candidate {
          return {u[lane], e[lane] + slot(lane), slot(lane) < start.total};
        });
      }
      claim(t, found, [&](int lane, int i) { return next[i][lane]; });
    }
  }
  /// For every lane the last lane whose value is not above x(lane), by bisection. Requires: values ascend from 0.
  template <class Values, class X>
  KOKKOS_FORCEINLINE_FUNCTION static auto last_not_above(tile const& t, Values const& values,
                                                         X const& x) {
    auto at = t.each([](int) { return 0; });
    for (int d = width / 2; d > 0; d /= 2) {
      auto const v = t.gather(values, [&](int lane) { return at[lane] + d; });
      at = t.each([&](int lane) { return v[lane] <= x(lane) ? at[lane] + d : at[lane]; });
    }
    return at;
  }

  /// An edge out of the frontier.
  struct candidate {
    std::uint32_t from;
    edge where;
    bool exists;
  };
  /// Claims the unvisited among the ends of the edges next(lane, i), i < at_once, and keeps what is won.
  template <class Next>
  KOKKOS_FORCEINLINE_FUNCTION void claim(tile const& t, queue_bin<State>& found,
                                         Next const& next) const {
    auto const won =
        t.each([&](int lane) { return claim_lane([&](int i) { return next(lane, i); }); });
    if (what == keep::queue)
      found.take(t, won, [&](int lane, int i) { return s->out.column[next(lane, i).where]; });
    else
      t.each([&](int lane) {
        found.count(lane_mask<32>(won[lane]).count());
        return 0;
      });
  }
  /// Returns: bit i for the i-th won. All loads come before all claims, so that they overlap.
  template <class Next>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim_lane(Next const& next) const {
    std::uint32_t v[at_once];
    std::uint32_t open = 0;
    for (int i = 0; i < at_once; ++i)
      v[i] = next(i).exists ? static_cast<std::uint32_t>(s->out.column[next(i).where]) : 0;
    // A small frontier is bound by latency: claim without a look, and fetch what placing will need meanwhile.
    for (int i = 0; i < at_once; ++i)
      if (eager() && next(i).exists) device::prefetch_far(s->out.offset + v[i]);
    for (int i = 0; i < at_once; ++i)
      if (next(i).exists && (eager() || unvisited(v[i])) && s->follows(next(i).from, v[i]))
        open |= 1u << i;
    if (what == keep::marks) {
      mark(v, open, next);
      return 0;
    }
    std::uint32_t before[at_once];
    for (int i = 0; i < at_once; ++i)
      before[i] = (open >> i & 1u) != 0
                      ? device::fetch_or(s->bitmap(p->now) + v[i] / 32, bit_of(v[i]))
                      : ~0u;
    std::uint32_t won = 0;
    for (int i = 0; i < at_once; ++i)
      if ((before[i] & bit_of(v[i])) == 0) {
        s->discover(v[i], next(i).from, p->level + 1);
        won |= 1u << i;
      }
    return won;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool eager() const {
    return what == keep::queue && p->frontier.edges < State::tuned::eager_edges;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool unvisited(std::uint32_t v) const {
    return (device::load_relaxed(s->bitmap(p->now) + v / 32) & bit_of(v)) == 0;
  }
  /// Leaves it to a scan of the bitmap to find the vertices.
  template <class Next>
  KOKKOS_FORCEINLINE_FUNCTION void mark(std::uint32_t const (&v)[at_once], std::uint32_t open,
                                        Next const& next) const {
    for (int i = 0; i < at_once; ++i)
      if ((open >> i & 1u) != 0) {
        s->propose_parent(v[i], next(i).from);
        device::set_bits(s->bitmap(1 - p->now) + v[i] / 32, bit_of(v[i]));
      }
  }
};

/// The same for a frontier that is bound by latency: few vertices, all of the class by_thread. Neighbouring vertices
/// go to different teams, a lane takes one and claims its neighbours without looking first. Not more instructions
/// than needed: a level of a road network takes some microseconds.
template <class StateHandle, class ProgressHandle>
struct expand_narrow {
  static constexpr char const* label = "karpos::bfs::expand_narrow";
  using State = typename StateHandle::state;
  static constexpr int width = State::width, at_once = State::tuned::neighbours_at_once;
  using tile = typename State::tile;
  using edge = typename State::edge;

  StateHandle s;
  ProgressHandle p;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    std::uint32_t const count = p->frontier.in_class[by_thread];
    auto const teams = static_cast<std::uint32_t>(team.league_size());
    // Neighbouring vertices go to different teams.
    auto const round = teams * static_cast<std::uint32_t>(team.template tiles<width>() * width);
    std::uint32_t const first =
        static_cast<std::uint32_t>(team.template tile_rank<width>() * width) * teams +
        static_cast<std::uint32_t>(team.league_rank());
    if (first >= count) return;
    queue_bin<State> found(team.template tile_scratch<width>(0, queue_bin<State>::bytes),
                           queue_end<State>(t, *s, p->tail, &s->counters(p->level + 1), true));
    for (std::uint32_t i = first; i < count; i += round) expand(t, i, teams, count, found);
    found.place(t);
  }

 private:
  struct row {
    std::uint32_t vertex;
    edge begin, end;
  };
  /// The vertices first, first + stride, … of the frontier, one for each lane.
  KOKKOS_FORCEINLINE_FUNCTION void expand(tile const& t, std::uint32_t first, std::uint32_t stride,
                                          std::uint32_t count, queue_bin<State>& found) const {
    std::uint32_t const* const from =
        s->queue + static_cast<std::uint32_t>(s->class_begin[by_thread]) + p->head[by_thread];
    auto const rows = t.each([&](int lane) -> row {
      std::uint32_t const i = first + static_cast<std::uint32_t>(lane) * stride;
      if (i >= count) return {0, 0, 0};
      std::uint32_t const v = from[i];
      return {v, s->out.begin(v), s->out.end(v)};
    });
    for (edge done = 0;
         t.ballot([&](int lane) { return rows[lane].begin + done < rows[lane].end; });
         done += at_once) {
      auto const won = t.each([&](int lane) { return claim(rows[lane], done); });
      found.take(t, won, [&](int lane, int i) {
        return s->out.column[rows[lane].begin + done + static_cast<edge>(i)];
      });
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim(row const& r, edge done) const {
    std::uint32_t v[at_once], before[at_once], won = 0;
    for (int i = 0; i < at_once; ++i) {
      edge const e = r.begin + done + static_cast<edge>(i);
      v[i] = e < r.end ? static_cast<std::uint32_t>(s->out.column[e]) : 0;
      before[i] = e < r.end && s->follows(r.vertex, v[i]) ? 0 : ~0u;
    }
    for (int i = 0; i < at_once; ++i)
      if (before[i] == 0) {
        device::prefetch_far(s->out.offset + v[i]);
        before[i] = device::fetch_or(s->bitmap(p->now) + v[i] / 32, bit_of(v[i]));
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
