// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/queue.hpp"
#include "karpos/device/team.hpp"

// Top-down expansion: the vertices of the frontier claim their unvisited neighbours.
//
// Workload balancing by degree class, all classes in one step, the highest degrees first, so that classes overlap. The
// unit of work is a chunk, which one tile expands:
//   by_grid    a vertex is split into enough chunks for the whole grid
//   by_team    a vertex is split into a chunk for each tile of a team
//   by_tile    a vertex is one chunk
//   by_thread  as many vertices as a tile has lanes are one chunk
// Where a class has too few vertices for all tiles, its chunks are smaller.

namespace karpos::detail::bfs {

/// What a top-down step leaves of the vertices that it finds.
enum class frontier_output {
  queue,       ///< the vertices, claimed, in the frontier queue
  count,       ///< their number, claimed: the next level is bottom-up and reads no queue
  status_bits  ///< their bits in visited[1 - current], unclaimed, for a bitmap scan
};

template <class StateHandle, class ProgressHandle>
struct expand_frontier {
  static constexpr char const* label = "karpos::bfs::expand";
  using State = typename StateHandle::state;
  static constexpr int width = State::width, at_once = State::tuned::neighbours_at_once;
  using tile = typename State::tile;
  using tile_bin = frontier_bin<State>;

  StateHandle s;
  ProgressHandle p;
  frontier_output output;

  std::uint64_t work() const { return p->frontier.edges + p->frontier.queued(); }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Team& team) const {
    s->clear_counters(team, p->level + 2);
    tile const t = team.template this_tile<width>();
    tile_bin found(
        team.template tile_scratch<width>(0, tile_bin::bytes),
        frontier_writer<State>(t, *s, p->tail, &s->counters(p->level + 1), is_latency_bound()));
    auto const team_tiles = static_cast<std::uint32_t>(team.template tiles<width>());
    frontier_chunks const chunks =
        divide(static_cast<std::uint32_t>(team.league_size()) * team_tiles, team_tiles);
    team.template for_each_tile<width>(chunks.count(), [&](std::uint64_t i) {
      chunk const k = load_chunk(t, chunks, static_cast<std::uint32_t>(i));
      if constexpr (State::tuned::balances_lanes)
        expand_balanced(t, k, found);
      else
        expand_rows(t, k, found);
    });
    found.flush(t);
    if (output == frontier_output::count) found.add_counts(team, s->counters(p->level + 1));
  }

 private:
  using edge = typename State::edge;
  /// Edges that a tile inspects at once.
  static constexpr std::uint32_t tile_edges = width * at_once;

  /// How the frontier is divided into chunks.
  struct frontier_chunks {
    std::uint32_t per_grid_vertex, per_team_vertex, per_tile_vertex;  // chunks of one vertex
    std::uint32_t thread_vertices;                       // vertices of a chunk of class by_thread
    std::uint32_t of_grid, of_team, of_tile, of_thread;  // chunks of each class
    KOKKOS_FUNCTION std::uint32_t count() const { return of_grid + of_team + of_tile + of_thread; }
  };
  /// tiles, team_tiles: in the whole grid, and in a team.
  KOKKOS_FORCEINLINE_FUNCTION frontier_chunks divide(std::uint32_t tiles,
                                                     std::uint32_t team_tiles) const {
    auto const per_vertex = [&](int c, std::uint32_t min, std::uint32_t max) {
      std::uint32_t const n = count(c) == 0 ? 1 : tiles / count(c);
      std::uint32_t const wanted = Kokkos::clamp(n, min, max);
      constexpr std::uint32_t max_chunks = 1u << 30;  // of a class: the sum of all fits 32 bits
      return count(c) <= max_chunks / wanted ? wanted : max_chunks / count(c) + 1;
    };
    frontier_chunks c{};
    c.per_grid_vertex = per_vertex(by_grid, 512, 4096);
    c.per_team_vertex = per_vertex(by_team, team_tiles, State::tuned::grid_degree / tile_edges + 1);
    c.per_tile_vertex = per_vertex(by_tile, 1, State::tuned::team_degree / tile_edges + 1);
    std::uint32_t const vertices = count(by_thread) / tiles + 1;
    c.thread_vertices = vertices < width && State::tuned::splits_chunks ? vertices : width;
    c.of_grid = count(by_grid) * c.per_grid_vertex;
    c.of_team = count(by_team) * c.per_team_vertex;
    c.of_tile = count(by_tile) * c.per_tile_vertex;
    c.of_thread = (count(by_thread) + c.thread_vertices - 1) / c.thread_vertices;
    return c;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t count(int c) const { return p->frontier.in_class[c]; }

  struct row {
    local_vertex vertex;
    std::uint32_t degree;
    edge begin;
  };
  /// A row for each lane. The tile expands edges first, first + step, … of them, tile_edges at each.
  struct chunk {
    typename tile::template varying<row> rows;
    std::uint32_t first, step;
    bool single;  // part of a single row, which lane 0 holds
  };

  KOKKOS_FORCEINLINE_FUNCTION chunk load_chunk(tile const& t, frontier_chunks const& c,
                                               std::uint32_t i) const {
    if (i >= c.of_grid + c.of_team + c.of_tile) {
      std::uint32_t const first = (i - c.of_grid - c.of_team - c.of_tile) * c.thread_vertices;
      std::uint32_t const left = count(by_thread) - first;
      return {load_rows(t, by_thread, first, Kokkos::min(left, c.thread_vertices)), 0, tile_edges,
              false};
    }
    int which = by_grid;
    std::uint32_t per_vertex = c.per_grid_vertex;
    if (i >= c.of_grid + c.of_team) {
      i -= c.of_grid + c.of_team;
      which = by_tile;
      per_vertex = c.per_tile_vertex;
    } else if (i >= c.of_grid) {
      i -= c.of_grid;
      which = by_team;
      per_vertex = c.per_team_vertex;
    }
    return {load_rows(t, which, i / per_vertex, 1), i % per_vertex * tile_edges,
            per_vertex * tile_edges, true};
  }
  /// The vertices first … first + n - 1 of a class of the frontier, one for each lane.
  KOKKOS_FORCEINLINE_FUNCTION auto load_rows(tile const& t, int which, std::uint32_t first,
                                             std::uint32_t n) const {
    local_vertex const* const from =
        s->queue + static_cast<std::uint32_t>(s->class_begin[which]) + p->head[which] + first;
    return t.each([&](int lane) -> row {
      if (static_cast<std::uint32_t>(lane) >= n) return {0, 0, 0};
      local_vertex const v = from[lane];
      row const r{v, static_cast<std::uint32_t>(s->out.degree(v)), s->out.begin(v)};
      device::prefetch(s->out.column + r.begin);
      return r;
    });
  }

  /// CPUs: row after row.
  KOKKOS_FUNCTION void expand_rows(tile const& t, chunk const& k, tile_bin& found) const {
    candidates list;
    for (int lane = 0; lane < (k.single ? 1 : width); ++lane) {
      row const r = t.get(k.rows, lane);
      for (std::uint32_t done = k.first; done < r.degree; done += k.single ? k.step : tile_edges) {
        edge const end = r.begin + Kokkos::min(done + tile_edges, r.degree);
        for (edge e = r.begin + done; e < end; ++e) {
          local_vertex const v = State::local(s->out.column[e]);
          list.add(v, r.vertex, is_unvisited(v));
          if (list.full()) claim_all(t, list, found);
        }
      }
    }
    claim_all(t, list, found);
  }
  KOKKOS_FUNCTION void claim_all(tile const& t, candidates& list, tile_bin& found) const {
    constexpr int ahead = 16;
    int const n = list.take();
    for (int i = 0; i < n; ++i) {
      if (i + ahead < n) device::prefetch(s->distance + list.vertex[i + ahead]);
      local_vertex const v = list.vertex[i], from = list.from[i];
      if (!s->follows(from, v)) continue;
      if (output == frontier_output::status_bits) {
        s->propose_parent(v, from);
        device::set_bits(s->bitmap(1 - p->current) + v / 32, bit_of(v));
        continue;
      }
      if ((device::fetch_or(s->bitmap(p->current) + v / 32, bit_of(v)) & bit_of(v)) != 0) continue;
      s->discover(v, from, p->level + 1);
      if (output == frontier_output::count) {
        found.count(1);
        continue;
      }
      device::prefetch(s->out.offset + v);
      found.push_one(t, v);
    }
  }
  /// GPUs, load-balanced: the edges of all rows form one sequence, by a prefix sum of the degrees, and edge j goes to
  /// lane j % width, which finds its row by bisection. No lane waits for the longest row, and neighbouring lanes read
  /// neighbouring edges.
  KOKKOS_FORCEINLINE_FUNCTION void expand_balanced(tile const& t, chunk const& k,
                                                   tile_bin& found) const {
    auto const start = t.prefix_sum(t.each([&](int lane) { return k.rows[lane].degree; }));
    auto const shift = t.each([&](int lane) { return k.rows[lane].begin - start.before[lane]; });
    auto const vertex_of = t.each([&](int lane) { return k.rows[lane].vertex; });
    for (std::uint32_t done = k.first; done < start.total; done += k.step) {
      typename tile::template varying<frontier_edge> next[at_once];
      for (int i = 0; i < at_once; ++i) {
        auto const slot = [&](int lane) {
          return done + static_cast<std::uint32_t>(i * width + lane);
        };
        auto const owner =
            k.single ? t.each([](int) { return 0; }) : last_not_above(t, start.before, slot);
        auto const from = [&](int lane) { return owner[lane]; };
        auto const u = t.gather(vertex_of, from);
        auto const e = t.gather(shift, from);
        next[i] = t.each([&](int lane) -> frontier_edge {
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
  struct frontier_edge {
    local_vertex from;
    edge where;
    bool exists;
  };
  /// Claims the unvisited end points of the edges edge_at(lane, i), i < at_once, and pushes or counts those won.
  template <class EdgeAt>
  KOKKOS_FORCEINLINE_FUNCTION void claim(tile const& t, tile_bin& found,
                                         EdgeAt const& edge_at) const {
    auto const won =
        t.each([&](int lane) { return claim_on_lane([&](int i) { return edge_at(lane, i); }); });
    if (output == frontier_output::queue)
      found.push(t, won, [&](int lane, int i) {
        return State::local(s->out.column[edge_at(lane, i).where]);
      });
    else
      t.each([&](int lane) {
        found.count(lane_mask<32>(won[lane]).count());
        return 0;
      });
  }
  /// One lane's part of it: all its loads come before all its claims, so that they overlap. Returns: bit i for the i-th
  /// end point won.
  template <class EdgeAt>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim_on_lane(EdgeAt const& edge_at) const {
    local_vertex v[at_once];
    std::uint32_t before[at_once], open = 0, won = 0;
    for (int i = 0; i < at_once; ++i)
      v[i] = edge_at(i).exists ? State::local(s->out.column[edge_at(i).where]) : 0;
    for (int i = 0; i < at_once; ++i)
      if (is_latency_bound() && edge_at(i).exists) device::prefetch_far(s->out.offset + v[i]);
    for (int i = 0; i < at_once; ++i)
      if (edge_at(i).exists && (is_latency_bound() || is_unvisited(v[i])) &&
          s->follows(edge_at(i).from, v[i]))
        open |= 1u << i;
    if (output == frontier_output::status_bits) {
      set_status_bits(v, open, [&](int i) { return edge_at(i).from; });
      return 0;
    }
    for (int i = 0; i < at_once; ++i)
      before[i] = (open >> i & 1u) != 0
                      ? device::fetch_or(s->bitmap(p->current) + v[i] / 32, bit_of(v[i]))
                      : ~0u;
    for (int i = 0; i < at_once; ++i)
      if ((before[i] & bit_of(v[i])) == 0) {
        s->discover(v[i], edge_at(i).from, p->level + 1);
        won |= 1u << i;
      }
    return won;
  }
  /// A small frontier is bound by latency: it claims without a look at the status bitmap first, and prefetches the rows
  /// that enqueueing will need.
  KOKKOS_FORCEINLINE_FUNCTION bool is_latency_bound() const {
    return output == frontier_output::queue &&
           p->frontier.edges < State::tuned::latency_bound_edges;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_unvisited(local_vertex v) const {
    return (device::load_relaxed(s->bitmap(p->current) + v / 32) & bit_of(v)) == 0;
  }
  template <class From>
  KOKKOS_FORCEINLINE_FUNCTION void set_status_bits(local_vertex const (&v)[at_once],
                                                   std::uint32_t open, From const& from) const {
    for (int i = 0; i < at_once; ++i)
      if ((open >> i & 1u) != 0) {
        s->propose_parent(v[i], from(i));
        device::set_bits(s->bitmap(1 - p->current) + v[i] / 32, bit_of(v[i]));
      }
  }
};

/// The same for a small frontier, which is bound by latency: few vertices, all of the class by_thread. Neighbouring
/// vertices go to different teams; a lane takes one vertex and claims its neighbours without a look at the status
/// bitmap first. A step of its own, for its few instructions: a level of a road network takes some microseconds.
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
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Team& team) const {
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
  /// The vertices first, first + stride, … of the frontier, one for each lane.
  KOKKOS_FORCEINLINE_FUNCTION void expand(tile const& t, std::uint32_t first, std::uint32_t stride,
                                          std::uint32_t count, tile_bin& found) const {
    local_vertex const* const from =
        s->queue + static_cast<std::uint32_t>(s->class_begin[by_thread]) + p->head[by_thread];
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
  /// Returns: bit i where the end point of the row's edge done + i is won.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim(row const& r, edge done) const {
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
