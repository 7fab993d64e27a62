// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs_batch/pull.hpp"
#include "karpos/detail/graph/bfs_batch/push.hpp"
#include "karpos/device/program.hpp"

// The loop over the levels of up to 64 searches. It resembles that of bfs/level_loop.hpp.

namespace karpos::detail::bfs_batch {

using device::make_step;

struct batch_plan {
  double pull_from, pull_until;  // edges of the frontier, as fractions of all edges
  std::int32_t max_distance;
  bool has_in_edges;
  /// Number of parts of a pass that cost about as much as running its searches one by one.
  std::int64_t break_even_parts;
  bool small;  // beginning and ending a level costs more than expanding all edges

  /// Returns whether the frontier is to be expanded by a pull level.
  KOKKOS_FUNCTION bool chooses_pull(progress const& p, std::uint64_t edges) const {
    double const limit = (p.pull ? pull_until : pull_from) * static_cast<double>(edges);
    return has_in_edges && static_cast<double>(p.frontier.edges) >= limit;
  }

  /// Returns whether, at the end of a part, the pass is left to searches one by one. Requires that
  /// many levels may follow, and one of these: the first part has found little; the graph is small;
  /// break_even_parts parts have passed since the frontier was wide.
  KOKKOS_FUNCTION bool chooses_one_by_one(progress const& p, std::uint64_t vertices,
                                          std::uint64_t edges) const {
    auto const last = Kokkos::min(std::int64_t(max_distance), static_cast<std::int64_t>(vertices));
    if ((last - p.level) / last_value < break_even_parts) return false;
    bool const is_narrow = p.pull_levels == 0 && p.edges_pushed < edges;
    return (p.base == 0 && (small || is_narrow)) ||
           (p.level - p.last_pull_level) / last_value >= break_even_parts;
  }
};

/// Clears all arrays; only the planes when a deep search goes on.
template <class StateHandle>
struct reset {
  static constexpr char const* label = "karpos::bfs_batch::reset";
  using State = typename StateHandle::state;
  using execution_space = typename State::execution_space;

  StateHandle s;
  bool continues;

  std::uint64_t work() const { return s->vertices * planes; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for_each_index<tuning<execution_space>::width>(team, s->vertices * planes,
                                                   [&](std::uint64_t i) { s->plane[i] = 0; });
    if (continues) return;
    for (int l = 0; l < 3; ++l) s->clear_totals(team, l);
    for_each_index<tuning<execution_space>::width>(team, s->vertices, [&](std::uint64_t v) {
      // A vertex without in-edges cannot be found.
      s->seen[v] = v < s->pull_rows ? 0 : ~word(0);
      s->front[0][v] = 0;
      s->front[1][v] = 0;
    });
    for_each_index<tuning<execution_space>::width>(team, s->words, [&](std::uint64_t w) {
      s->bits[0][w] = 0;
      s->bits[1][w] = 0;
    });
    for_each_index<tuning<execution_space>::width>(team, searches_at_once, [&](std::uint64_t i) {
      s->totals->visited[i] = 0;
      s->totals->distances[i] = 0;
    });
  }
};

/// Makes the sources the frontier.
template <class StateHandle, class ProgressHandle>
struct seed {
  static constexpr char const* label = "karpos::bfs_batch::seed";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return searches_at_once; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    auto const t = team.template this_tile<width>();
    level_totals& to = s->totals_of(0);
    team.template for_each_tile<width>((s->searches + width - 1) / width, [&](std::uint64_t i) {
      auto const first = static_cast<int>(i) * width;
      t.each([&](int lane) {
        if (first + lane < s->searches) start(first + lane, to);
        return 0;
      });
    });
  }

 private:
  /// Starts a search at its source. Several searches may have one source.
  KOKKOS_FUNCTION void start(int search, level_totals& to) const {
    local_vertex const v = s->sources[search];
    word const bit = word(1) << search;
    device::set_bits(s->seen + v, bit);
    device::set_bits(s->front_of(p->current) + v, bit);
    device::set_bits(s->plane + std::uint64_t(v) * planes, bit);
    device::set_bits(&to.reached, bit);
    for (int other = 0; other < search; ++other)
      if (s->sources[other] == v) return;
    device::add(&to.edges, s->out.degree(v));
  }
};

template <class State>
struct level_loop {
  using shared = progress;

  State s;
  batch_plan plan;
  progress from;  // level is -1 for a new pass
  batch_record* record;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, progress& p) const {
    bool const continues = from.level >= 0;
    grid.run(make_step<reset>(grid, s, continues), [&] { p = from; });
    if (!continues) grid.run(make_step<seed>(grid, s, p), [&] { decide(grid, p); });
    while (!p.done && !p.full) {
      if (p.pull) {
        grid.run(make_step<pull>(grid, s, p), [&] {
          p.current = 1 - p.current;
          p.has_items = false;
          ++p.pull_levels;
          decide(grid, p);
        });
        continue;
      }
      if (!p.has_items)
        grid.run(make_step<list_frontier>(grid, s, p), [&] {
          p.frontier.items = totals(grid, p.level).items;
          p.has_items = true;
        });
      grid.run(make_step<push>(grid, s, p), [] {});
      grid.run(make_step<update>(grid, s, p), [&] {
        p.edges_pushed += p.frontier.edges;
        p.current = 1 - p.current;
        decide(grid, p);
      });
    }
  }

 private:
  /// Returns the totals of a level, over all teams.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION level_totals totals(Grid& grid, std::int32_t level) const {
    return grid.read(&s.totals_of(level));
  }
  /// Makes the level that has just been found the frontier, and decides how it is expanded.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void decide(Grid& grid, progress& p) const {
    level_totals const next = totals(grid, p.level + 1);
    word const ended = p.frontier.reached & ~next.reached;
    ++p.level;
    p.frontier = next;
    p.done = next.reached == 0;
    record_levels(p, ended, p.level);
    if (!p.done && p.level == plan.max_distance) {
      p.done = true;
      record_levels(p, next.reached, p.level + 1);
    }
    p.full = !p.done && p.level - p.base + 1 >= last_value;
    p.pull = plan.chooses_pull(p, s.edges);
    if (p.pull) p.last_pull_level = p.level;
    p.one_by_one = p.full && plan.chooses_one_by_one(p, s.vertices, s.edges);
    if (p.done || p.full) grid.write(&record->state, p);
  }
  KOKKOS_FUNCTION static void record_levels(progress& p, word ended, std::int32_t levels) {
    for (lane_mask<64> m(ended); m; m = m.without_first()) p.levels[m.first()] = levels;
  }
};

}  // namespace karpos::detail::bfs_batch
