// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/bottom_up.hpp"
#include "karpos/detail/bfs/progress.hpp"
#include "karpos/detail/bfs/scan.hpp"
#include "karpos/detail/bfs/start.hpp"
#include "karpos/detail/bfs/top_down.hpp"
#include "karpos/device/program.hpp"

// The search, level by level. launched_grid runs it from the host, cooperative_grid inside of one kernel.

namespace karpos::detail::bfs {

template <class State>
struct search_program {
  using shared = progress;

  State s;
  search_plan plan;
  source_list sources;
  search_record* record;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, progress& p) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<progress>;
    grid.run(reset<G>{grid.handle(s)}, [&] { p.begin(s); });
    grid.run(seed<G, P>{grid.handle(s), grid.handle(p), sources}, [&] { enter(grid, p, 0); });
    while (!p.done) {
      if (!p.up) {
        if (p.frontier.found > 0) queue_found(grid, p);
        if (plan.scanned_queue) {
          grid.run(expand_frontier<G, P>{grid.handle(s), grid.handle(p), keep::marks}, [] {});
          scan(grid, p, sought::marked, [&] { enter(grid, p, p.level + 1); });
        } else {
          auto const then = [&] { enter(grid, p, p.level + 1); };
          if (p.narrow)
            grid.run(expand_narrow<G, P>{grid.handle(s), grid.handle(p)}, then);
          else
            grid.run(expand_frontier<G, P>{grid.handle(s), grid.handle(p),
                                           p.blind ? keep::nothing : keep::queue},
                     then);
        }
      } else if (!plan.unvisited_queue) {
        grid.run(search_bitmap<G, P>{grid.handle(s), grid.handle(p), plan.hub_cache}, [&] {
          p.now = 1 - p.now;
          enter(grid, p, p.level + 1);
        });
      } else {
        if (!p.has_candidates) queue_unvisited(grid, p);
        grid.run(search_candidates<G, P>{grid.handle(s), grid.handle(p), plan.hub_cache}, [] {});
        grid.run(mark_found<G, P>{grid.handle(s), grid.handle(p)}, [&] {
          p.candidates = 1 - p.candidates;
          enter(grid, p, p.level + 1);
        });
      }
    }
  }

 private:
  /// Takes what the last step has found, chooses the direction and keeps the records.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void enter(Grid& grid, progress& p, std::int32_t level) const {
    level_counters const next = grid.read(&s.counters(level));
    if (p.up && p.level < recorded_levels) grid.write(&record->level[p.level].edges, next.examined);
    p.enter(next, level);
    if (p.done) {
      grid.write(&record->summary, p.sum);
    } else {
      p.turn(plan.goes_up(p));
      p.blind = plan.goes_blind(p);
      p.narrow = is_narrow(p);
      if (!p.up) p.sum.edges_down += next.edges;
      if (level < recorded_levels)
        grid.write(&record->level[level],
                   level_record{next.vertices(), next.edges, next.hubs, p.up ? 1u : 0u});
    }
  }
  KOKKOS_FUNCTION static bool is_narrow(progress const& p) {
    std::uint32_t const n = p.frontier.in_class[by_thread];
    return n > 0 && n <= State::tuned::narrow_vertices && n == p.frontier.vertices() && !p.blind &&
           p.frontier.edges <= std::uint64_t(n) * State::tuned::narrow_degree;
  }

  /// Bottom-up levels over the bitmap leave no queue.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void queue_found(Grid& grid, progress& p) const {
    scan(grid, p, sought::found, [&] { take_queue(grid, p); });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void take_queue(Grid& grid, progress& p) const {
    p.queue(grid.read(&s.counters(p.level)));
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void queue_unvisited(Grid& grid, progress& p) const {
    scan(grid, p, sought::unvisited, [&] { take_candidates(grid, p); });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void take_candidates(Grid& grid, progress& p) const {
    p.frontier.candidates = grid.read(&s.counters(p.level)).candidates;
    p.has_candidates = true;
  }
  /// Queues what a scan of the bitmaps finds.
  KARPOS_PROGRAM template <class Grid, class Then>
  KOKKOS_FUNCTION void scan(Grid& grid, progress& p, sought what, Then const& then) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<progress>;
    scan_part<G, P> const part{grid.handle(s), grid.handle(p), what};
    grid.run(count_part<G, P>{part}, [] {});
    grid.run(place_part<G, P>{part}, then);
  }
};

}  // namespace karpos::detail::bfs
