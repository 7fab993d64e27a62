// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/sssp/pull.hpp"
#include "karpos/detail/sssp/relax.hpp"
#include "karpos/detail/sssp/start.hpp"
#include "karpos/detail/sssp/windows.hpp"
#include "karpos/device/program.hpp"

// The loop over rounds: near-far, which is delta-stepping with a near and a far queue.
//
//   bucket       distances in [lower, threshold). A round expands the near queue, all of whose
//                vertices lie in the bucket. A vertex whose distance is lowered to within the
//                bucket enters the next near queue; other vertices enter the far queue
//   next bucket  begins when the near queue is empty: the threshold rises by a width, or to a width
//                above the smallest distance that a split has left; the far queue is split
//   width        delta. It doubles after each bucket of few edges, once half of all edges have been
//                probed: the remaining vertices are then few and far away
//   reach        if there is one, the loop pushes distances below it only; the other vertices pull
//                theirs (pull.hpp)
//
// The loop always ends. It stops, and reports that, if it runs longer than it can without a fault
// in it or in its input:
//
//   buckets      At most one bucket a vertex: each begins where the one before ended, and at least
//                one vertex gets its final distance. A bucket that begins at the smallest remaining
//                distance finds a vertex: of two splits in a row at most one finds none.
//   rounds       At most two rounds a vertex, and a few at the end. After two more rounds of a
//                bucket, the ends of all shortest paths with one more edge have their final
//                distance. The second round is for long rows, which fused rounds leave to the next
//                round.
//   pulling      At most most_passes passes.
//   parents      At the same distance, each vertex gets a parent once.
//
// launched_grid runs the loop on the host with a kernel for each step; cooperative_grid runs it
// inside one kernel.

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
  /// Returns the threshold of a bucket that begins at distance `label`.
  KOKKOS_FUNCTION static word above(shared const& p, word label) {
    return Kokkos::max(labels::plus(label, p.width), static_cast<word>(label + 1));
  }
  /// Ends a bucket, and doubles the width if it had few edges. window_edges: edges probed in fused
  /// rounds so far.
  KOKKOS_FUNCTION void widen(shared& p, std::uint64_t window_edges) const {
    std::uint64_t const all = p.edges + window_edges;
    bool const few = all - p.edges_before < s.teams * State::tuned::few_edges;
    p.edges_before = all;
    if (few && all > s.edges / 2 && p.width < labels::no_path() / 4) p.width *= 2;
  }
  /// Sets where this round reads in the queue, and where the next one begins to write.
  KOKKOS_FUNCTION void aim(shared& p) const {
    for (int c = 0; c < degree_classes; ++c) {
      auto const n = static_cast<std::uint32_t>(s.vertices);
      p.head[c] = p.side() == 0 ? 0 : n;
      p.tail[c] = n - p.head[c];
    }
  }
  /// Makes the near queue that was filled last the frontier.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void take_queue(Grid& grid, shared& p) const {
    ++p.round;
    p.frontier = grid.read(&s.counters(p.round));
    p.vertices += p.frontier.queued();
    aim(p);
  }
  /// Makes the near queue that was filled last the frontier to be pushed. Sets the reach once a
  /// certain part of all edges has been pushed, because the hubs are near then.
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
  /// Begins the next bucket. first: the smallest distance that a vertex in it may have.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void go_on(Grid& grid, shared& p, word first) const {
    p.lower = p.threshold;
    p.threshold = Kokkos::min(above(p, first), p.reach);
    p.rounds_of_bucket = 0;
    if (p.lower >= p.reach || first >= p.reach) return leave_buckets(grid, p);
    if (p.threshold <= p.lower) stop(grid, p);
  }
  /// Ends pushing: starts to pull if there is a reach.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void leave_buckets(Grid& grid, shared& p) const {
    p.pulls = p.reach < labels::farthest();
    if (!p.pulls) finish(grid, p);
  }
  /// Pulls the distances beyond the reach. After too many passes, puts these vertices into the far
  /// queue.
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

  /// Finds parents from the distances: first among nearer vertices; then, if edges of weight zero
  /// leave vertices without a parent, among vertices at the same distance.
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
