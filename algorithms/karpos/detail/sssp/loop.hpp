// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/sssp/pull.hpp"
#include "karpos/detail/sssp/relax.hpp"
#include "karpos/detail/sssp/start.hpp"
#include "karpos/detail/sssp/windows.hpp"
#include "karpos/device/program.hpp"

// The loop over rounds: near-far, which is delta-stepping with two piles.
//
//   bucket      labels in [lower, threshold): a round expands the near queue, all of whose vertices lie in the bucket. Labels
//               that are lowered to within it go to the next near queue, others to the far queue
//   next one    when the near queue is empty: the threshold rises by a width, or to that much above the smallest label that a
//               split has left, and the far queue is split
//   width       delta; twice as much after each bucket of few edges, once half of all edges have been looked at: what is left
//               then is a few vertices far away
//   reach       where there is one, the loop ends with labels below it; the other vertices are pulled (pull.hpp)
//
// The loop always ends. It stops, and reports that, if it goes on for longer than it can without a
// fault in it or in its input:
//
//   buckets   Each begins where the one before ended and settles at least one vertex: at most one
//             bucket a vertex. A bucket that begins at the smallest label left finds a vertex: of
//             two splits in a row at most one finds none.
//   rounds    Two rounds of a bucket settle the ends of all shortest paths of one edge more. The
//             second one is for long rows, which windows leave to the next round. So there are at
//             most two rounds a vertex, and a few at the end.
//   pulling   At most most_passes passes.
//   parents   At the same distance, each vertex is given a parent once.
//
// launched_grid runs it on the host with a kernel for each step; cooperative_grid inside of one kernel.

namespace karpos::detail::sssp {

template <class State>
struct round_loop {
  using word = typename State::word;
  using shared = progress<typename State::weight_type>;
  using labels = typename State::labels;

  State s;
  bfs::source_list sources;
  summary* record;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, shared& p) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<shared>;
    grid.run(reset<G>{grid.handle(s)}, [&] { begin(p); });
    grid.run(seed<G, P>{{grid.handle(s), grid.handle(p)}, sources}, [&] { advance(grid, p); });
    while (!p.done) {
      if (p.pulls)
        pull_rest(grid, p);
      else if (p.frontier.queued() == 0)
        grid.run(split_far<G, P>{{grid.handle(s), grid.handle(p)}}, [&] { next_bucket(grid, p); });
      else if (p.narrow)
        grid.run(relax_in_teams<G, P>{{grid.handle(s), grid.handle(p)}}, [&] {
          ++p.windows;
          advance(grid, p);
        });
      else
        grid.run(expand<G, P, relax>{{grid.handle(s), grid.handle(p)}}, [&] { advance(grid, p); });
    }
    if (s.parent != nullptr && !p.failed) find_parents(grid, p);
  }

 private:
  static constexpr std::uint64_t rounds_in_vain = 64;

  KOKKOS_FUNCTION void begin(shared& p) const {
    p = shared{};
    p.width = s.delta;
    p.reach = labels::farthest();
    p.threshold = above(p, 0);
    p.buckets = 1;
    aim(p);
  }
  /// The threshold of a bucket that begins at a label.
  KOKKOS_FUNCTION static word above(shared const& p, word label) {
    return Kokkos::max(labels::plus(label, p.width), static_cast<word>(label + 1));
  }
  /// Ends a bucket in which so many edges were looked at in windows, of all buckets.
  KOKKOS_FUNCTION void widen(shared& p, std::uint64_t window_edges) const {
    std::uint64_t const all = p.edges + window_edges;
    bool const few = all - p.edges_before < s.teams * State::tuned::few_edges;
    p.edges_before = all;
    if (few && all > s.edges / 2 && p.width < labels::no_path() / 4) p.width *= 2;
  }
  /// Where this round reads and the next one begins to write.
  KOKKOS_FUNCTION void aim(shared& p) const {
    for (int c = 0; c < degree_classes; ++c) {
      auto const n = static_cast<std::uint32_t>(s.vertices);
      p.head[c] = p.side() == 0 ? 0 : n;
      p.tail[c] = n - p.head[c];
    }
  }
  /// Makes the near queue that has been filled the frontier.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void take_queue(Grid& grid, shared& p) const {
    ++p.round;
    p.frontier = grid.read(&s.counters(p.round));
    p.vertices += p.frontier.queued();
    aim(p);
  }
  /// The same; the frontier is pushed. Once it leads to a part of the edges, the hubs are near, and the reach is counted from there.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void take_round(Grid& grid, shared& p) const {
    take_queue(grid, p);
    std::uint64_t const n = p.frontier.in_class[bfs::by_thread];
    p.narrow = s.window_hops > 0 && n == p.frontier.queued() &&
               n <= std::uint64_t(s.teams) * State::tuned::team_width &&
               p.frontier.edges <= n * State::tuned::small_frontier_degree;
    if (p.narrow) return;
    p.edges += p.frontier.edges;
    bool const near_hubs = p.edges > s.edges / State::tuned::edges_before_reach;
    if (near_hubs && s.reach < labels::no_path() && p.reach == labels::farthest() && p.passes == 0)
      p.reach = labels::plus(p.threshold, s.reach);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void advance(Grid& grid, shared& p) const {
    take_round(grid, p);
    if (p.frontier.queued() > 0) {
      if (++p.rounds_of_bucket > 2 * s.vertices + rounds_in_vain) stop(grid, p);
      return;
    }
    p.vain_splits = 0;
    p.far_entries = grid.read(&s.far_counters(p.split)).unvisited;
    if (p.far_entries == 0) return leave_buckets(grid, p);
    if (p.buckets > s.vertices) return stop(grid, p);
    widen(p, grid.read(s.window_edges));
    ++p.buckets;
    go_on(grid, p, p.threshold);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void next_bucket(Grid& grid, shared& p) const {
    ++p.split;
    take_round(grid, p);
    if (p.frontier.queued() > 0) return;
    p.far_entries = grid.read(&s.far_counters(p.split)).unvisited;
    if (p.far_entries == 0) return leave_buckets(grid, p);
    if (++p.vain_splits > 1) return stop(grid, p);
    go_on(grid, p, static_cast<word>(grid.read(s.far_min + p.split % 3)));
  }
  /// Begins the next bucket; first: the smallest label that it may have.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void go_on(Grid& grid, shared& p, word first) const {
    p.lower = p.threshold;
    p.threshold = Kokkos::min(above(p, first), p.reach);
    p.rounds_of_bucket = 0;
    if (p.lower >= p.reach || first >= p.reach) return leave_buckets(grid, p);
    if (p.threshold <= p.lower) stop(grid, p);
  }
  /// When all that was to be pushed has been.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void leave_buckets(Grid& grid, shared& p) const {
    p.pulls = p.reach < labels::farthest();
    if (!p.pulls) finish(grid, p);
  }
  /// The labels beyond the reach; if they take too many passes, makes them the far queue.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void pull_rest(Grid& grid, shared& p) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<shared>;
    using tuned = typename State::tuned;
    auto const end = [&] { end_pass(grid, p); };
    grid.run(queue_unsettled<G, P>{{grid.handle(s), grid.handle(p)}}, [&] {
      take_queue(grid, p);
      p.lowered = p.frontier.queued() > 0;
    });
    if (p.lowered) grid.run(pull<G, P, true>{{grid.handle(s), grid.handle(p)}}, end);
    while (p.lowered && p.frontier.queued() > 0 && p.passes < tuned::most_passes &&
           p.pulled_edges <= s.edges / 2)
      grid.run(pull<G, P, false>{{grid.handle(s), grid.handle(p)}}, end);
    if (!p.lowered || p.frontier.queued() == 0) return finish(grid, p);
    grid.run(queue_pulled<G, P>{{grid.handle(s), grid.handle(p)}}, [&] { push_again(grid, p); });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_pass(Grid& grid, shared& p) const {
    if (p.passes > 0) p.pulled_edges += p.frontier.edges;
    ++p.passes;
    p.edges += p.frontier.edges;
    p.lowered = grid.read(s.last_lowered) >= p.passes;
    take_queue(grid, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void push_again(Grid& grid, shared& p) const {
    p.pulls = false;
    p.frontier = level_counters{};
    p.far_entries = grid.read(&s.far_counters(++p.split)).unvisited;
    p.lower = p.reach;
    p.threshold = above(p, p.lower);
    p.reach = labels::farthest();
    p.rounds_of_bucket = p.vain_splits = 0;
    if (p.far_entries == 0) finish(grid, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void finish(Grid& grid, shared& p) const {
    p.done = true;
    grid.write(record, summary{p.round, p.buckets, p.windows, p.vertices, p.edges, p.passes,
                               p.failed ? 1u : 0u});
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void stop(Grid& grid, shared& p) const {
    p.failed = true;
    finish(grid, p);
  }

  /// Parents by the distances: of vertices that are nearer; then, where edges of weight zero leave any, of vertices at the same
  /// distance.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void find_parents(Grid& grid, shared& p) const {
    using G = typename Grid::template handle_of<State>;
    using P = typename Grid::template handle_of<shared>;
    auto const take = [&] { take_round(grid, p); };
    grid.run(queue_reached<G, P>{{grid.handle(s), grid.handle(p)}, false}, take);
    grid.run(expand<G, P, parent_of_nearer>{{grid.handle(s), grid.handle(p)}}, take);
    grid.run(queue_reached<G, P>{{grid.handle(s), grid.handle(p)}, true}, take);
    if (p.frontier.unqueued == 0) return;
    while (p.frontier.queued() > 0 && !p.failed)
      grid.run(expand<G, P, parent_of_equal>{{grid.handle(s), grid.handle(p)}}, [&] {
        take_round(grid, p);
        p.equals += p.frontier.queued();
        if (p.equals > s.vertices) stop(grid, p);
      });
  }
};

}  // namespace karpos::detail::sssp
