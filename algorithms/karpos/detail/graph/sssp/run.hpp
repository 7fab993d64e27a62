// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/detail/graph/sssp/bucket_fusion.hpp"
#include "karpos/detail/graph/sssp/over_ranks.hpp"
#include "karpos/detail/graph/sssp/pull.hpp"
#include "karpos/detail/graph/sssp/relax.hpp"
#include "karpos/detail/graph/sssp/start.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/program.hpp"
#include "karpos/sssp_options.hpp"

// Runs a search: checks its results, and loops over rounds. The loop is near-far, which is
// delta-stepping with a near and a far queue.
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
//   rounds       In each bucket at most two rounds a vertex, and a few more. After two more rounds
//                of a bucket, the ends of all shortest paths with one more edge have their final
//                distance. The second round is for long rows, which fused rounds leave to the next
//                round.
//   pulling      At most max_passes passes.
//   parents      Each vertex gets a parent at its own distance (an edge of weight zero) only once.
//   exchanges    At most one a vertex in each bucket, and a few more: after each, the ends of all
//                shortest paths with one more edge between two ranks have their final distance.
//
// Over several ranks (State::over_ranks), a rank runs rounds until its own near queue is empty, and
// then waits for an exchange of all ranks (detail/distributed/sssp_run.hpp). The bucket ends if no
// rank has listed a vertex for another. Buckets are the same on all ranks, because all decide by
// the same totals. If a rank must stop, its message says so, and all stop.

namespace karpos::detail::sssp {

using device::make_step;

template <class State>
struct round_loop {
  static constexpr char const* label = "karpos::sssp::search";
  using word = typename State::word;
  using shared = progress_of<State>;
  using traits = typename State::traits;

  State s;
  source_list sources;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Grid& grid, shared& p) const {
    grid.run(make_step<reset>(grid, s), [&] { begin(p); });
    grid.run(make_step<seed>(grid, s, p, sources), [&] { advance(grid, p); });
    while (!p.done) {
      if (p.pulling) {
        if constexpr (!State::over_ranks) pull_remaining(grid, p);
      } else if (p.frontier.queued() == 0)
        grid.run(make_step<split_far>(grid, s, p), [&] { end_split(grid, p); });
      else if (p.narrow)
        grid.run(make_step<relax_in_teams>(grid, s, p), [&] {
          ++p.fused_rounds;
          advance(grid, p);
        });
      else
        grid.run(make_step<relax_edges>(grid, s, p), [&] { advance(grid, p); });
    }
    if (s.parent != nullptr && !p.failed) find_parents(grid, p);
  }

 private:
  static constexpr std::uint64_t extra_rounds = 64;

  KOKKOS_FUNCTION void begin(shared& p) const {
    p = shared{};
    p.width = s.delta;
    p.reach = traits::infinity();
    p.threshold = bucket_end(p, 0);
    p.buckets = 1;
    set_queue_bounds(p);
  }
  /// Returns the threshold of a bucket that begins at `distance`.
  KOKKOS_FUNCTION static word bucket_end(shared const& p, word distance) {
    return Kokkos::max(traits::plus(distance, p.width), static_cast<word>(distance + 1));
  }
  /// Doubles the width if a bucket had few edges. all: probed so far.
  KOKKOS_FUNCTION void adapt_width(shared& p, std::uint64_t all) const {
    bool const few = all - p.edges_before_bucket < s.graph_teams() * State::tuned::few_edges;
    p.edges_before_bucket = all;
    if (few && all > s.edges / 2 && p.width < traits::infinite_weight() / 4) p.width *= 2;
  }
  /// Sets where this round reads in the queue, and where the next one begins to write.
  KOKKOS_FUNCTION void set_queue_bounds(shared& p) const {
    for (int c = 0; c < degree_classes; ++c) {
      auto const n = static_cast<std::uint32_t>(s.vertices);
      p.head[c] = p.side() == 0 ? 0 : n;
      p.tail[c] = n - p.head[c];
    }
  }
  /// Makes the near queue that was filled last the frontier.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void load_frontier(Grid& grid, shared& p) const {
    ++p.round;
    p.frontier = grid.read(&s.counters(p.round));
    p.vertices += p.frontier.queued();
    set_queue_bounds(p);
  }
  /// Makes the near queue that was filled last the frontier to be pushed. Sets the reach once a
  /// certain fraction of all edges has been pushed, because the hubs are near then.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void begin_round(Grid& grid, shared& p) const {
    load_frontier(grid, p);
    std::uint64_t const n = p.frontier.in_class[by_thread];
    p.narrow = s.fusion_hops > 0 && n == p.frontier.queued() &&
               n <= std::uint64_t(s.teams) * State::tuned::team_width &&
               p.frontier.edges <= n * State::tuned::small_frontier_degree;
    if (p.narrow) return;
    p.edges += p.frontier.edges;
    bool const near_hubs = p.edges > s.edges / State::tuned::reach_start_divisor;
    if (near_hubs && s.reach < traits::infinite_weight() && p.reach == traits::infinity() &&
        p.passes == 0)
      p.reach = traits::plus(p.threshold, s.reach);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void advance(Grid& grid, shared& p) const {
    begin_round(grid, p);
    if constexpr (State::over_ranks) {
      exchange_until_queued<receive_distances>(grid, p);
      if (p.failed) return finish(grid, p);
    }
    if (p.frontier.queued() > 0) {
      if (++p.rounds_of_bucket > max_rounds()) fail(grid, p);
      return;
    }
    if constexpr (State::over_ranks) {
      if (p.all.vertices == p.vertices_before_bucket) return end_empty_split(grid, p);
      p.vertices_before_bucket = p.all.vertices;
    }
    p.empty_splits = 0;
    if (count_far(grid, p) == 0) return end_pushing(grid, p);
    if (p.buckets > s.graph_vertices()) return fail(grid, p);
    if constexpr (State::over_ranks)
      adapt_width(p, p.all.edges);
    else
      adapt_width(p, p.edges + grid.read(&s.fixed->fused_edges));
    ++p.buckets;
    begin_bucket(grid, p, p.threshold);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_split(Grid& grid, shared& p) const {
    ++p.split;
    if constexpr (State::over_ranks) {
      advance(grid, p);
    } else {
      begin_round(grid, p);
      if (p.frontier.queued() == 0) end_empty_split(grid, p);
    }
  }
  /// Begins a bucket at the smallest distance that a split, which found no vertex, has left.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_empty_split(Grid& grid, shared& p) const {
    if (count_far(grid, p) == 0) return end_pushing(grid, p);
    if (++p.empty_splits > 1) return fail(grid, p);
    if constexpr (State::over_ranks)
      begin_bucket(grid, p, static_cast<word>(p.all.far_min));
    else
      begin_bucket(grid, p, static_cast<word>(grid.read(s.fixed->far_min + p.split % 3)));
  }
  /// Reads the length of the far queue. Returns: that of all ranks.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION std::uint64_t count_far(Grid& grid, shared& p) const {
    p.far_entries = grid.read(&s.far_counters(p.split)).unvisited;
    if constexpr (State::over_ranks)
      return p.all.far_entries;
    else
      return p.far_entries;
  }
  /// Returns the largest number of rounds in a bucket; over ranks, between two exchanges.
  KOKKOS_FUNCTION std::uint64_t max_rounds() const { return 2 * s.graph_vertices() + extra_rounds; }
  /// While this rank has no vertex to expand: waits for all ranks, and receives what they have
  /// found for it. Returns when it has vertices, or when no rank has any.
  KARPOS_PROGRAM template <template <class, class> class Receive, class Grid>
  KOKKOS_FUNCTION void exchange_until_queued(Grid& grid, shared& p) const {
    using receive_step = decltype(make_step<Receive>(grid, s, p));
    bool stuck = p.rounds_of_bucket >= max_rounds();
    while (p.frontier.queued() == 0 || stuck) {
      stuck = stuck || ++p.exchanges > s.graph_vertices() + extra_rounds;
      grid.template exchange<typename receive_step::row>(s, p, stuck);
      p.rounds_of_bucket = 0;
      p.failed = p.all.failed > 0;
      if (p.failed) p.frontier = level_counters{};
      if (p.failed || p.all.listed == 0) return;
      grid.run(make_step<Receive>(grid, s, p), [&] { begin_round(grid, p); });
    }
  }
  /// Begins the next bucket. first: the smallest distance that a vertex in it may have.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void begin_bucket(Grid& grid, shared& p, word first) const {
    p.lower = p.threshold;
    p.threshold = Kokkos::min(bucket_end(p, first), p.reach);
    p.rounds_of_bucket = 0;
    if constexpr (State::over_ranks) p.exchanges = 0;
    if (p.lower >= p.reach || first >= p.reach) return end_pushing(grid, p);
    if (p.threshold <= p.lower) fail(grid, p);
  }
  /// Ends pushing: starts to pull if there is a reach.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_pushing(Grid& grid, shared& p) const {
    p.pulling = p.reach < traits::infinity();
    if (!p.pulling) finish(grid, p);
  }
  /// Pulls the distances beyond the reach. After too many passes, queues these vertices as far.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void pull_remaining(Grid& grid, shared& p) const {
    using tuned = typename State::tuned;
    auto const end = [&] { end_pass(grid, p); };
    grid.run(make_step<queue_beyond_reach>(grid, s, p), [&] {
      load_frontier(grid, p);
      p.lowered = p.frontier.queued() > 0;
    });
    if (p.lowered) grid.run(make_step<pull_first>(grid, s, p), end);
    while (p.lowered && p.frontier.queued() > 0 && p.passes < tuned::max_passes &&
           p.pulled_edges <= s.edges / 2)
      grid.run(make_step<pull_again>(grid, s, p), end);
    if (!p.lowered || p.frontier.queued() == 0) return finish(grid, p);
    grid.run(make_step<queue_pulled>(grid, s, p), [&] { resume_pushing(grid, p); });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_pass(Grid& grid, shared& p) const {
    if (p.passes > 0)
      p.pulled_edges += p.frontier.edges;
    else if (p.frontier.edges > s.edges / State::tuned::first_pass_divisor)
      p.pulled_edges = s.edges;
    ++p.passes;
    p.edges += p.frontier.edges;
    p.lowered = grid.read(&s.fixed->last_lowering_pass) >= p.passes;
    load_frontier(grid, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void resume_pushing(Grid& grid, shared& p) const {
    p.pulling = false;
    p.frontier = level_counters{};
    p.far_entries = grid.read(&s.far_counters(++p.split)).unvisited;
    p.lower = p.reach;
    p.threshold = bucket_end(p, p.lower);
    p.reach = traits::infinity();
    p.rounds_of_bucket = p.empty_splits = 0;
    if (p.far_entries == 0) finish(grid, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void finish(Grid& grid, shared& p) const {
    p.done = true;
    grid.write(&s.fixed->record, summary{p.round, p.buckets, p.fused_rounds, p.vertices, p.edges,
                                         p.passes, p.failed ? 1u : 0u});
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void fail(Grid& grid, shared& p) const {
    p.failed = true;
    finish(grid, p);
  }

  /// Finds parents from the distances: first among nearer vertices; then, if edges of weight zero
  /// leave vertices without a parent, among vertices at the same distance.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void find_parents(Grid& grid, shared& p) const {
    auto const begin_next = [&] { begin_round(grid, p); };
    grid.run(make_step<queue_reached>(grid, s, p, false), begin_next);
    grid.run(make_step<find_nearer_parents>(grid, s, p), begin_next);
    if constexpr (State::over_ranks) {
      p.exchanges = p.rounds_of_bucket = 0;
      exchange_until_queued<receive_nearer_parents>(grid, p);
    }
    grid.run(make_step<queue_reached>(grid, s, p, true), begin_next);
    if (!is_parent_missing(grid, p)) return;
    if constexpr (State::over_ranks) exchange_until_queued<receive_equal_parents>(grid, p);
    while (p.frontier.queued() > 0 && !p.failed)
      grid.run(make_step<find_equal_parents>(grid, s, p), [&] {
        begin_round(grid, p);
        if constexpr (State::over_ranks) exchange_until_queued<receive_equal_parents>(grid, p);
        p.equal_parents += p.frontier.queued();
        // Ranks stop together: exchange_until_queued counts their exchanges.
        if (!State::over_ranks && p.equal_parents > s.graph_vertices()) fail(grid, p);
      });
  }
  /// Returns whether a vertex, of any rank, has a distance and no parent.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION bool is_parent_missing(Grid& grid, shared& p) const {
    if constexpr (State::over_ranks) {
      using receive_step = decltype(make_step<receive_equal_parents>(grid, s, p));
      grid.template exchange<typename receive_step::row>(s, p, false);
      return p.all.unqueued > 0;
    } else {
      return p.frontier.unqueued > 0;
    }
  }
};

/// Counts the edges that lead from a vertex with a distance to a vertex without one.
template <class State>
struct count_distance_overflows {
  State s;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const {
    auto const infinity = State::traits::infinity();
    std::uint64_t const u = s.first_vertex() + i;
    if (s.distance[u] == infinity) return;
    for (auto e = s.out.begin(u); e < s.out.end(u); ++e)
      count += State::traits::is_finite(s.weight[e]) &&
                       s.distance[State::local(s.out.column[e])] == infinity
                   ? 1
                   : 0;
  }
};

/// Throws std::logic_error, which explains why a search was stopped.
[[noreturn]] inline void reject_endless(std::uint64_t rounds, std::uint64_t buckets,
                                        std::uint64_t vertices) {
  reject<std::logic_error>("the search was stopped",
                           "it comes to no end: round " + std::to_string(rounds) + ", bucket " +
                               std::to_string(buckets) + ", in a graph of " +
                               std::to_string(vertices) + " vertices",
                           "pass the weights that the workspace was made of, none negative, write "
                           "nothing meanwhile, or report this");
}

/// Throws std::range_error if a vertex can be reached, but its distance does not fit the type.
template <class ExecSpace, class State>
void require_in_range(ExecSpace const& exec, State const& s) {
  auto const count = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
      "karpos::sssp::count_distance_overflows", exec, s.vertices,
      count_distance_overflows<State>{s});
  if (count > 0)
    reject<std::range_error>("a distance does not fit the type of the weights",
                             std::to_string(count) + " edges lead beyond",
                             "use weights of 64 bits, or of floating point");
}

struct workspace_access {
  template <class Workspace>
  static auto const& graph(Workspace const& w) {
    return w.m_graph;
  }
  template <class Workspace>
  static auto const& weights(Workspace const& w) {
    return w.m_weights;
  }
  template <class Workspace>
  static auto rank_state(Workspace const& w, sssp_options const& o) {
    return w.state(o);
  }
  /// Returns a rank's workspace for its own rows.
  template <class Workspace>
  static auto const& local(Workspace const& w) {
    return *w.m_local;
  }
  /// Returns a rank's memory for exchanges.
  template <class Workspace>
  static auto& exchange_memory(Workspace const& w) {
    return w.m_exchange;
  }
  template <class Workspace>
  static double weight_sum(Workspace const& w) {
    return w.m_weight_sum;
  }
  template <class Workspace>
  static auto const& grid(Workspace const& w) {
    return w.m_grid;
  }
  template <class ExecSpace, class Workspace>
  static auto draw(ExecSpace const& exec, Workspace const& w, std::uint64_t n) {
    return w.draw(exec, n);
  }
  template <class ExecSpace, class Workspace>
  static auto state(ExecSpace const& exec, Workspace const& w,
                    typename Workspace::weight_type delta, sssp_options const& o) {
    return w.state(exec, delta, o.reach == 0 ? w.reach() : o.reach, o.fusion_hops);
  }
  template <class ExecSpace, class Workspace, class State>
  static sssp_report run(ExecSpace const& exec, Workspace const& w, State const& s,
                         source_list const& sources, sssp_options const& options) {
    using tuned = tuning<ExecSpace>;
    Kokkos::Profiling::ScopedRegion const region("karpos::sssp");
    device::run_program<tuned::team_threads, tuned::teams_per_processor>(
        exec, options.driver, w.m_grid, round_loop<State>{s, sources});
    auto const done = read_back(exec, s.fixed, "karpos::sssp: report");
    summary const& r = done.record;
    if (r.failed != 0) reject_endless(r.rounds, r.buckets, s.vertices);
    if (done.distance_overflowed != 0) require_in_range(exec, s);
    return {static_cast<double>(s.delta), r.buckets, r.rounds, r.fused_rounds, r.vertices,
            r.edges + done.fused_edges,   r.passes};
  }
};

}  // namespace karpos::detail::sssp
