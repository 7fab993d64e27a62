// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"

// Divides the edges out of a frontier among the tiles of all teams by degree class. One step
// handles all classes, the highest degrees first, so that classes overlap. The unit of work is a
// chunk, which one tile expands. Terms (tile, team, lane): see frontier.hpp.
//
//   by_grid    a vertex is split into enough chunks for the whole grid
//   by_team    a vertex is split into a chunk for each tile of a team
//   by_tile    a vertex is one chunk
//   by_thread  as many vertices as a tile has lanes are one chunk
//
// If a class has too few vertices for all tiles, its chunks are smaller.

namespace karpos::detail::frontier {

template <class StateHandle, class ProgressHandle>
struct frontier_walk {
  using State = typename StateHandle::state;
  static constexpr int width = State::width, at_once = State::tuned::neighbours_at_once;
  using tile = typename State::tile;

  StateHandle s;
  ProgressHandle p;

 protected:
  using edge = typename State::edge;
  /// Edges that a tile inspects at once.
  static constexpr std::uint32_t tile_edges = width * at_once;

  /// Number and size of the chunks that the frontier is divided into.
  struct frontier_chunks {
    std::uint32_t per_grid_vertex, per_team_vertex, per_tile_vertex;  // chunks of one vertex
    std::uint32_t thread_vertices;  // vertices of a chunk of class by_thread
    std::uint32_t grid_chunks, team_chunks, tile_chunks, thread_chunks;  // chunks of each class
    KOKKOS_FUNCTION std::uint32_t count() const {
      return grid_chunks + team_chunks + tile_chunks + thread_chunks;
    }
  };
  /// Divides the frontier. tiles: number of tiles in the grid; team_tiles: in a team.
  KARPOS_STEP_FUNCTION frontier_chunks divide(std::uint32_t tiles, std::uint32_t team_tiles) const {
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
    c.grid_chunks = count(by_grid) * c.per_grid_vertex;
    c.team_chunks = count(by_team) * c.per_team_vertex;
    c.tile_chunks = count(by_tile) * c.per_tile_vertex;
    c.thread_chunks = (count(by_thread) + c.thread_vertices - 1) / c.thread_vertices;
    return c;
  }
  KARPOS_STEP_FUNCTION std::uint32_t count(int c) const { return p->frontier.in_class[c]; }

  struct row {
    local_vertex vertex;
    std::uint32_t degree;
    edge begin;
  };
  /// A row for each lane. The tile expands tile_edges edges from first, first + step, … on.
  struct chunk {
    typename tile::template varying<row> rows;
    std::uint32_t first, step;
    bool single;  // part of one row, which lane 0 holds
  };

  KARPOS_STEP_FUNCTION chunk load_chunk(tile const& t, frontier_chunks const& c,
                                        std::uint32_t i) const {
    if (i >= c.grid_chunks + c.team_chunks + c.tile_chunks) {
      std::uint32_t const first =
          (i - c.grid_chunks - c.team_chunks - c.tile_chunks) * c.thread_vertices;
      std::uint32_t const left = count(by_thread) - first;
      return {load_rows(t, by_thread, first, Kokkos::min(left, c.thread_vertices)), 0, tile_edges,
              false};
    }
    int which = by_grid;
    std::uint32_t per_vertex = c.per_grid_vertex;
    if (i >= c.grid_chunks + c.team_chunks) {
      i -= c.grid_chunks + c.team_chunks;
      which = by_tile;
      per_vertex = c.per_tile_vertex;
    } else if (i >= c.grid_chunks) {
      i -= c.grid_chunks;
      which = by_team;
      per_vertex = c.per_team_vertex;
    }
    return {load_rows(t, which, i / per_vertex, 1), i % per_vertex * tile_edges,
            per_vertex * tile_edges, true};
  }
  /// Loads the vertices first … first + n - 1 of a class of the frontier, one for each lane.
  KARPOS_STEP_FUNCTION auto load_rows(tile const& t, int which, std::uint32_t first,
                                      std::uint32_t n) const {
    local_vertex const* const from = s->segment(*p, which) + first;
    return t.each([&](int lane) -> row {
      if (static_cast<std::uint32_t>(lane) >= n) return {0, 0, 0};
      local_vertex const v = from[lane];
      row const r{v, static_cast<std::uint32_t>(s->out.degree(v)), s->out.begin(v)};
      device::prefetch(s->out.column + r.begin);
      return r;
    });
  }

  struct frontier_edge {
    local_vertex from;
    edge where;
    bool exists;
  };

  /// Runs f(chunk) for the chunks of this tile.
  template <class Team, class F>
  KARPOS_STEP_FUNCTION void for_each_chunk(Team& team, tile const& t, F const& f) const {
    auto const team_tiles = static_cast<std::uint32_t>(team.template tiles<width>());
    frontier_chunks const chunks =
        divide(static_cast<std::uint32_t>(team.league_size()) * team_tiles, team_tiles);
    team.template for_each_tile_across_teams<width>(chunks.count(), [&](std::uint64_t i) {
      KARPOS_INLINE_CALLS f(load_chunk(t, chunks, static_cast<std::uint32_t>(i)));
    });
  }

  /// Returns the chunk with only the first f(row) edges of each row.
  template <class F>
  KARPOS_STEP_FUNCTION chunk truncate(tile const& t, chunk const& k, F const& f) const {
    chunk first = k;
    first.rows = t.each([&](int lane) -> row {
      row const& r = k.rows[lane];
      return {r.vertex, r.degree == 0 ? 0 : f(r), r.begin};
    });
    return first;
  }

  /// GPUs: expands a chunk load-balanced. The edges of all rows form one sequence, by a prefix sum
  /// of the degrees. Edge j goes to lane j % width, which finds its row by bisection. No lane waits
  /// for the longest row, and neighbouring lanes read neighbouring edges. Calls visit(edge_at),
  /// where edge_at(lane, i), i < at_once, is an edge out of the frontier.
  template <class Visit>
  KARPOS_STEP_FUNCTION void expand_balanced(tile const& t, chunk const& k,
                                            Visit const& visit) const {
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
      visit([&](int lane, int i) { return next[i][lane]; });
    }
  }
  /// Returns, for every lane, the last lane whose value is not above x(lane), by bisection.
  /// Requires: values ascend from 0.
  template <class Values, class X>
  KARPOS_STEP_FUNCTION static auto last_not_above(tile const& t, Values const& values, X const& x) {
    auto at = t.each([](int) { return 0; });
    for (int d = width / 2; d > 0; d /= 2) {
      auto const v = t.gather(values, [&](int lane) { return at[lane] + d; });
      at = t.each([&](int lane) { return v[lane] <= x(lane) ? at[lane] + d : at[lane]; });
    }
    return at;
  }
};

}  // namespace karpos::detail::frontier
