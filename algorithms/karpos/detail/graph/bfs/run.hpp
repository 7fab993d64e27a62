// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/bottom_up.hpp"
#include "karpos/detail/graph/bfs/local_search.hpp"
#include "karpos/detail/graph/bfs/over_ranks.hpp"
#include "karpos/detail/graph/bfs/plan.hpp"
#include "karpos/detail/graph/bfs/scan.hpp"
#include "karpos/detail/graph/bfs/start.hpp"
#include "karpos/detail/graph/bfs/team_local_search.hpp"
#include "karpos/detail/graph/bfs/top_down.hpp"
#include "karpos/device/program.hpp"

// The level loop over the steps of state.hpp. A level has three parts:
//
//   expand    one or two steps that find the next level
//   exchange  reads the totals of the level, over all teams
//   decide    makes that level the frontier, chooses its direction and its step, records it
//
// After a local search (CPUs: `explore`, GPUs: `explore_by_teams`), only the last of its levels is
// exchanged and decided; the others are recorded. launched_grid runs the loop on the host,
// cooperative_grid inside one kernel.
//
// Over several ranks (State::over_ranks), each rank expands its own vertices. A top-down level has
// one more step (over_ranks.hpp), unless local searches find it (`explore_over_ranks`). All ranks
// wait for each other at the end of a level, and decide by the totals of all, so that they choose
// one direction, or end, together.

namespace karpos::detail::bfs {

using device::make_step;

/// Adds the level that is p's frontier to the record of a search and to its sums.
KARPOS_PROGRAM template <class Grid>
KOKKOS_FUNCTION void record_level(Grid& grid, search_record* record, progress& p) {
  if (!p.bottom_up) p.sum.edges_top_down += p.all.edges;
  if (p.level < recorded_levels)
    grid.write(&record->level[p.level],
               level_record{p.all.vertices, p.all.edges, p.all.hubs, p.bottom_up ? 1u : 0u});
}

/// Makes the level that was just found the frontier of p, chooses how it is expanded, and records
/// it. own: its totals on this rank; next: on all ranks. Ends the search if the level is empty, or
/// if more was found than the graph has. probes_per_claim: see tuning. Not a member of
/// level_loop, because the persistent kernel would spill more (956 instead of 732 bytes of loads).
KARPOS_PROGRAM template <class Grid>
KOKKOS_FUNCTION void decide(Grid& grid, search_plan const& plan, int probes_per_claim,
                            search_record* record, progress& p, level_counters const& own,
                            level_counters const& next) {
  if (p.bottom_up && p.level < recorded_levels)
    grid.write(&record->level[p.level].edges, next.edges_examined);
  p.advance(own, next);
  if (p.sum.failed != 0 || !p.is_possible(plan.vertices)) {
    p.sum.failed = 1;
    p.done = true;
  }
  if (p.done) {
    grid.write(&record->summary, p.sum);
    return;
  }
  plan.choose(probes_per_claim, p);
  record_level(grid, record, p);
}

template <class State>
struct level_loop {
  static constexpr char const* label = "karpos::bfs::search";
  using shared = typename State::progress_type;

  State s;
  search_plan plan;
  source_list sources;
  search_record* record;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Grid& grid, shared& p) const {
    auto const begin = [&] { p.begin(plan.reachable, plan.edges); };
    if (!sources.is_single()) grid.run(make_step<reset>(grid, s), begin);
    run_to_level(grid, p, 0, make_step<seed>(grid, s, p, sources), [&] {
      if (sources.is_single()) begin();
    });
    [[maybe_unused]] local_search_control<State> control;
    while (!p.done) {
      if (p.bottom_up) {
        expand_bottom_up(grid, p);
        continue;
      }
      if (p.frontier.unqueued > 0)
        scan(grid, s, p, scan_target::found_bottom_up,
             [&] { p.advance_segment(own_totals(grid, p.level)); });
      if constexpr (State::over_ranks) {
        if (p.local_search.exploring)
          explore_over_ranks(grid, p);
        else
          expand_over_ranks(grid, p);
      } else {
        expand_alone(grid, p, control);
      }
    }
  }

 private:
  static constexpr bool has_local_search = State::tuned::has_local_search;
  static constexpr bool has_team_local_search = State::tuned::has_team_local_search;

  /// Finds the next level, or several, on one device.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FORCEINLINE_FUNCTION void expand_alone(
      Grid& grid, progress& p, [[maybe_unused]] local_search_control<State>& control) const {
    if constexpr (has_local_search)
      if (explore(grid, p, control)) return;
    if constexpr (has_team_local_search)
      if (p.local_search.exploring) {
        explore_by_teams(grid, p);
        return;
      }
    if (plan.scanned_queue) {
      grid.run(make_step<expand_frontier>(grid, s, p, frontier_output::status_bits), [] {});
      scan(grid, s, p, scan_target::status_bits, [&] { decide_alone(grid, p); });
    } else if (State::tuned::small_frontier_vertices > 0 && p.small_frontier) {
      run_level(grid, p, make_step<expand_small_frontier>(grid, s, p), [] {});
    } else {
      run_level(grid, p, make_step<expand_frontier>(grid, s, p, output_of(p)), [] {});
    }
  }

  /// Finds levels by a local search, or by several with a deferred commit. Returns: whether it did.
  template <class Grid>
  bool explore(Grid& grid, progress& p, local_search_control<State>& control) const {
    local_search_shape w;
    if (!plan.allows_local_search() || !control.choose(s, p, w)) return false;
    if (w.is_deferred) return explore_deferred(grid, p, control, w);
    run_local_search(grid, p, control, w);
    std::uint64_t const before = p.sum.visited;
    grid.run(make_step<commit_slices>(grid, s, p, w), [&] {
      for (std::uint32_t hop = 1; hop < w.to.hops && !p.done; ++hop) {
        level_counters const found = totals_of_hop(s, w, hop);
        p.advance(found, found);
        if (p.done)
          grid.write(&record->summary, p.sum);
        else
          record_level(grid, record, p);
      }
      if (w.to.hops > 0 && !p.done) decide_alone(grid, p);
    });
    control.count(p.sum.visited - before);
    return w.to.hops > 0;
  }
  /// Runs a local search, and sets its hops to those that can be kept. Returns: whether all can.
  template <class Grid>
  bool run_local_search(Grid& grid, progress& p, local_search_control<State>& control,
                        local_search_shape& w) const {
    std::uint32_t const wanted = w.to.hops = Kokkos::min(w.to.hops, plan.local_search_hops);
    grid.run(make_step<explore_slices>(grid, s, p, w), [&] { w.to.hops = complete_hops(s, w); });
    control.adapt_hops(wanted, w.to.hops);
    return w.to.hops == wanted;
  }
  /// Runs local searches with a deferred commit until the frontier is wide or nothing more is
  /// found, then commits. Returns: whether it has found a level.
  template <class Grid>
  bool explore_deferred(Grid& grid, progress& p, local_search_control<State>& control,
                        local_search_shape w) const {
    p.local_search.start_level = p.level;
    do {
      // In this order: a distance that is reset may have overwritten one of a hop that is kept.
      if (!run_local_search(grid, p, control, w))
        grid.run(make_step<roll_back_distances>(grid, s, p, w), [] {});
      if (w.to.slices > 1 && s.grid_teams > 1)
        grid.run(make_step<repair_distances>(grid, s, p, w), [] {});
      for (std::uint32_t hop = 0; hop < w.to.hops; ++hop)
        if (++p.level < recorded_levels) s.records[p.level] = level_record{};
      p.sum.failed = p.is_possible(s.vertices) ? 0 : 1;
    } while (w.to.hops > 0 && p.sum.failed == 0 && control.next(s, w));
    if (p.level == p.local_search.start_level) return false;
    control.end_deferred_commit();
    *s.passed_levels = passed_totals{};
    commit_deferred(grid, p);
    return true;
  }
  /// Computes visited bits, parents, totals and a frontier from the distances of local searches.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void commit_deferred(Grid& grid, progress& p) const {
    if (s.parent != nullptr) grid.run(make_step<find_parents>(grid, s, p), [] {});
    grid.run(make_step<commit_distances>(grid, s, p), [&] { resume_levels(grid, p); });
  }

  /// Runs local searches until the frontier is wide or nothing more is found.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void explore_by_teams(Grid& grid, progress& p) const {
    while (p.local_search.exploring) {
      grid.run(make_step<explore_in_teams>(grid, s, p), [&] { end_local_search(grid, p); });
      if (p.local_search.failed)
        grid.run(make_step<roll_back_local_search>(grid, s, p), [&] { halve_hops(p); });
    }
    if (p.level != p.local_search.start_level) commit_deferred(grid, p);
  }
  /// Returns the capacity of a team's list.
  KOKKOS_FUNCTION std::uint32_t list_capacity() const {
    return team_list_capacity(s, static_cast<int>(s.grid_teams));
  }
  /// Starts local searches if this frontier allows them, and the graph has lists for all teams.
  KOKKOS_FUNCTION void try_begin_local_search(progress& p) const {
    using tuned = typename State::tuned;
    local_search_progress& w = p.local_search;
    std::uint64_t const n = p.frontier.vertices(), teams = s.grid_teams;
    w.stable = p.small_frontier ? w.stable + 1 : Kokkos::min(w.stable, 0);
    w.exploring =
        plan.allows_local_search() && p.small_frontier && w.stable >= tuned::stable_levels &&
        n <= teams * Kokkos::min(list_capacity(), std::uint32_t(tuned::initial_team_vertices)) &&
        list_capacity() >= tuned::min_list_capacity;
    if (!w.exploring) return;
    begin_local_search(p);
  }
  /// Lets a series of local searches start from the frontier queue.
  KOKKOS_FUNCTION void begin_local_search(progress& p) const {
    local_search_progress& w = p.local_search;
    w.entries = p.frontier.vertices();
    w.start_level = p.level;
    // A power of two, for explore_in_teams::clear.
    w.hops = State::tuned::initial_team_hops;
    while (w.hops > plan.local_search_hops) w.hops /= 2;
    w.successes = 0;
    w.from_queue = true;
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_local_search(Grid& grid, progress& p) const {
    using tuned = typename State::tuned;
    local_search_progress& w = p.local_search;
    local_search_totals const found = grid.read(&s.local_search_sums[w.number % 3]);
    ++w.number;
    w.failed = found.overflows > 0;
    if (w.failed) return;
    p.level += static_cast<std::int32_t>(w.hops);
    w.entries = found.entries;
    w.input = 1 - w.input;
    w.from_queue = false;
    p.sum.failed = p.is_possible(s.vertices) ? 0 : 1;
    w.exploring =
        w.entries > 0 && p.sum.failed == 0 &&
        w.entries <= std::uint64_t(s.grid_teams) *
                         Kokkos::min(list_capacity(), std::uint32_t(tuned::max_team_vertices));
    try_double_hops(w);
  }
  /// Doubles the hops after some local searches without an overflow.
  KOKKOS_FUNCTION void try_double_hops(local_search_progress& w) const {
    using tuned = typename State::tuned;
    if (++w.successes < tuned::successes_before_doubling && w.hops >= tuned::initial_team_hops / 2)
      return;
    w.successes = 0;
    if (2 * w.hops <= Kokkos::min(std::uint32_t(tuned::max_team_hops), plan.local_search_hops))
      w.hops *= 2;
  }
  KOKKOS_FUNCTION static void halve_hops(progress& p) {
    local_search_progress& w = p.local_search;
    w.failed = false;
    w.successes = 0;
    w.hops /= 2;
    if (w.hops > 0) return;
    w.exploring = false;
    w.stable = -64;  // levels to wait
  }
  /// Makes the last level of the local searches the frontier, as if each had been found alone.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void resume_levels(Grid& grid, progress& p) const {
    passed_totals const passed = grid.read(s.passed_levels);
    level_counters const next = own_totals(grid, p.level);
    add_passed(p, passed);
    set_last_level(p, next, passed.deepest);
    decide(grid, p, next, next);
  }
  /// Adds the levels that local searches have passed to the sums of a search.
  KOKKOS_FUNCTION static void add_passed(progress& p, passed_totals const& passed) {
    p.sum.visited += passed.vertices;
    p.sum.edges_top_down += passed.edges;
    p.unvisited -= Kokkos::min(passed.vertices, p.unvisited);
    p.edges_unexplored -= Kokkos::min(passed.edges, p.edges_unexplored);
    p.local_search.stable = Kokkos::min(p.local_search.stable, 0);
  }
  /// Sets the level before the frontier, or the last one if there is none. next: its totals.
  KOKKOS_FUNCTION static void set_last_level(progress& p, level_counters const& next,
                                             std::uint32_t deepest) {
    p.level = next.vertices() > 0
                  ? p.level - 1
                  : Kokkos::max(static_cast<std::int32_t>(deepest), p.local_search.start_level);
  }

  /// Over several ranks: claims vertices of any owner, then receives those that others claimed.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void expand_over_ranks(Grid& grid, shared& p) const {
    auto const output = output_of(p);
    grid.run_on_all(make_step<expand_frontier>(grid, s, p, output), &s.counters(p.level + 1), [&] {
      p.template count_lists<level_counters>(grid, [](auto const& c) { return c.listed; });
      send_claims(grid, p);
    });
    if (p.lists_claims)
      run_level(grid, p, make_step<receive_lists>(grid, s, p, output), [] {});
    else
      run_level(grid, p, make_step<merge_claims>(grid, s, p, output),
                [&] { p.current = 1 - p.current; });
  }
  /// Over several ranks: runs local searches until the frontier is wide, nothing more is found, or
  /// one has overflowed. Then commits the levels that all ranks have found.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void explore_over_ranks(Grid& grid, shared& p) const {
    local_search_progress& w = p.local_search;
    while (w.exploring)
      grid.run_on_all(make_step<explore_in_teams>(grid, s, p), &s.local_search_sums[w.number % 3],
                      [&] { end_local_search_over_ranks(grid, p); });
    grid.run(make_step<roll_back_local_search>(grid, s, p), [] {});
    if (p.level == w.start_level) return;
    if (s.wants_parents()) {
      grid.run_on_all(make_step<find_parents>(grid, s, p), &s.local_search_sums[w.number % 3], [&] {
        p.template count_lists<local_search_totals>(grid, [](auto const& t) { return t.claims; });
        send_list<parent_claim>(grid, 0);
        ++w.number;
      });
      grid.run(make_step<receive_parents>(grid, s, p), [] {});
    }
    grid.run_on_all(make_step<commit_distances>(grid, s, p), s.passed_levels, [&] {
      p.lists_claims = false;
      send_claims(grid, p);
      p.current = 1 - p.current;
      passed_totals const sum = passed_over_ranks(grid);
      add_passed(p, sum);
      p.deepest = sum.deepest;
    });
    grid.run_on_all(make_step<send_totals>(grid, s, p), &s.counters(p.level), [&] {
      level_counters const all = sum_over_ranks(grid);
      set_last_level(p, all, p.deepest);
      mark_levels_by_rank(grid, p);
      decide_with_all(grid, p, all);
    });
  }
  /// Notes that the levels of local searches were recorded rank by rank.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void mark_levels_by_rank(Grid& grid, shared& p) const {
    for (std::int32_t l = p.local_search.start_level + 1; l <= p.level && l < recorded_levels; ++l)
      grid.write(&record->level[l].bottom_up, std::uint32_t(level_record::by_rank));
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION passed_totals passed_over_ranks(Grid& grid) const {
    passed_totals sum{};
    for (int r = 0; r < grid.ranks(); ++r) {
      auto const passed = grid.template of_rank<passed_totals>(r);
      sum.vertices += passed.vertices;
      sum.edges += passed.edges;
      sum.deepest = Kokkos::max(sum.deepest, passed.deepest);
    }
    return sum;
  }
  /// Starts local searches if the frontier that ranks decide by, `next`, allows them.
  KOKKOS_FUNCTION void try_begin_over_ranks(shared& p, level_counters const& next) const {
    using tuned = typename State::tuned;
    local_search_progress& w = p.local_search;
    std::uint64_t const n = next.in_class[by_thread];
    bool const is_narrow = n > 0 && n <= plan.local_search_vertices && n == p.all.vertices &&
                           next.edges <= n * tuned::small_frontier_degree && !p.bottom_up &&
                           !p.count_only;
    w.stable = is_narrow ? w.stable + 1 : Kokkos::min(w.stable, 0);
    w.exploring = plan.allows_local_search() && is_narrow && w.stable >= tuned::stable_levels;
    if (!w.exploring) return;
    begin_local_search(p);
    p.all_listed = 0;
    for (std::uint32_t& n_of_rank : p.listed) n_of_rank = 0;
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_local_search_over_ranks(Grid& grid, shared& p) const {
    local_search_progress& w = p.local_search;
    p.template count_lists<local_search_totals>(grid, [](auto const& t) { return t.claims; });
    std::uint64_t left = p.all_listed;
    std::uint32_t final_level = ~std::uint32_t(0);
    bool overflow = 2 * p.all_listed > s.words;  // launched ranks gather all lists
    for (int r = 0; r < grid.ranks(); ++r) {
      auto const of_rank = grid.template of_rank<local_search_totals>(r);
      left += of_rank.entries;
      final_level = Kokkos::min(final_level, of_rank.final_level);
      overflow = overflow || of_rank.overflows > 0 || of_rank.claims > s.claim_capacity();
    }
    w.entries = grid.template of_rank<local_search_totals>(grid.rank()).entries;
    w.input = 1 - w.input;
    w.from_queue = false;
    w.exploring = false;
    if (overflow) {
      w.stable = -64;  // levels to wait
    } else if (left == 0) {
      p.level = above_all_levels;
    } else {
      p.level = static_cast<std::int32_t>(final_level);
      p.sum.failed = p.is_possible(s.vertices) ? 0 : 1;
      w.exploring = p.sum.failed == 0 && left <= 2 * plan.local_search_vertices;
      if (w.exploring) send_list<rank_claim>(grid, s.claim_list(p));
      try_double_hops(w);
    }
    ++w.number;
  }
  static constexpr std::int32_t above_all_levels = 0x7ffffff0;
  /// Between launched steps, sends the list that starts at list number `which` to all ranks.
  KARPOS_PROGRAM template <class Entry, class Grid>
  KOKKOS_FUNCTION void send_list([[maybe_unused]] Grid& grid, [[maybe_unused]] int which) const {
    if constexpr (!Grid::spans)
      grid.send_list(s.begin_of_list(which), sizeof(Entry) / sizeof(local_vertex));
  }
  /// Between launched steps, ranks send each other what a top-down or bottom-up step has found.
  /// A spanning grid's steps read and write each other's memory instead.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void send_claims([[maybe_unused]] Grid& grid, progress const& p) const {
    if constexpr (!Grid::spans) grid.send_claims(s, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void send_found([[maybe_unused]] Grid& grid, progress const& p) const {
    if constexpr (State::over_ranks)
      if constexpr (!Grid::spans) grid.send_found(s, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void expand_bottom_up(Grid& grid, shared& p) const {
    if constexpr (!State::over_ranks)
      if (plan.unvisited_queue) {
        expand_unvisited_queue(grid, p);
        return;
      }
    run_level(grid, p,
              make_step<bottom_up_bitmap>(grid, s, p, !State::over_ranks && plan.hub_cache), [&] {
                send_found(grid, p);
                p.current = 1 - p.current;
              });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void expand_unvisited_queue(Grid& grid, progress& p) const {
    if (!p.has_unvisited_queue)
      scan(grid, s, p, scan_target::unvisited, [&] {
        p.frontier.unvisited = own_totals(grid, p.level).unvisited;
        p.has_unvisited_queue = true;
      });
    grid.run(make_step<bottom_up_queue>(grid, s, p, plan.hub_cache), [] {});
    grid.run(make_step<set_status_bits_of_found>(grid, s, p), [&] {
      p.current_unvisited = 1 - p.current_unvisited;
      decide_alone(grid, p);
    });
  }

  KOKKOS_FUNCTION static frontier_output output_of(progress const& p) {
    return p.count_only ? frontier_output::count : frontier_output::queue;
  }
  /// Runs the last step of a level, then `before`, and decides. Over ranks, waits for all of them.
  KARPOS_PROGRAM template <class Grid, class Step, class Before>
  KOKKOS_FORCEINLINE_FUNCTION void run_level(Grid& grid, shared& p, Step const& step,
                                             Before const& before) const {
    run_to_level(grid, p, p.level + 1, step, before);
  }
  /// Runs a step that finds `level` as run_level does; p may not be set before `before` is run.
  KARPOS_PROGRAM template <class Grid, class Step, class Before>
  KOKKOS_FORCEINLINE_FUNCTION void run_to_level(Grid& grid, shared& p,
                                                [[maybe_unused]] std::int32_t level,
                                                Step const& step, Before const& before) const {
    if constexpr (State::over_ranks)
      grid.run_on_all(step, &s.counters(level), [&] {
        before();
        decide_with_all(grid, p, sum_over_ranks(grid));
      });
    else
      grid.run(step, [&] {
        before();
        decide_alone(grid, p);
      });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void decide_with_all(Grid& grid, shared& p, level_counters const& all) const {
    decide(grid, p, grid.template of_rank<level_counters>(grid.rank()), all);
  }
  /// Returns the totals of a level over all teams of this rank.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION level_counters own_totals(Grid& grid, std::int32_t level) const {
    return grid.read(&s.counters(level));
  }
  /// Returns the totals that all ranks have sent for a level.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FORCEINLINE_FUNCTION static level_counters sum_over_ranks(Grid const& grid) {
    level_counters sum{};
    for (int r = 0; r < grid.ranks(); ++r) {
      auto const c = grid.template of_rank<level_counters>(r);
      for (int i = 0; i < degree_classes; ++i) sum.in_class[i] += c.in_class[i];
      sum.unqueued += c.unqueued;
      sum.hubs += c.hubs;
      sum.edges += c.edges;
      sum.edges_examined += c.edges_examined;
      sum.hub_hits += c.hub_hits;
    }
    return sum;
  }

  /// Decides by the totals of one device, which owns all vertices.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void decide_alone(Grid& grid, progress& p) const {
    level_counters const next = own_totals(grid, p.level + 1);
    decide(grid, p, next, next);
  }
  /// Makes the level with these totals the frontier, and chooses how it is expanded.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void decide(Grid& grid, shared& p, level_counters const& own,
                              level_counters const& next) const {
    using tuned = typename State::tuned;
    bfs::decide(grid, plan, tuned::probes_per_claim, record, p, own, next);
    if (p.done) return;
    if constexpr (State::over_ranks) {
      p.lists_claims = p.all.edges <= plan.words;
      try_begin_over_ranks(p, next);
    } else {
      std::uint32_t const n = p.frontier.in_class[by_thread];
      p.small_frontier = n > 0 && n <= tuned::small_frontier_vertices && !p.count_only &&
                         n == p.frontier.vertices() &&
                         p.frontier.edges <= std::uint64_t(n) * tuned::small_frontier_degree;
      if constexpr (has_team_local_search) try_begin_local_search(p);
    }
  }
};

}  // namespace karpos::detail::bfs
