// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/detail/distributed/bfs_exchange.hpp"
#include "karpos/detail/distributed/bfs_plan.hpp"
#include "karpos/detail/distributed/bfs_steps.hpp"
#include "karpos/detail/graph/bfs/bottom_up.hpp"
#include "karpos/detail/graph/bfs/run.hpp"
#include "karpos/detail/graph/bfs/scan.hpp"
#include "karpos/detail/graph/bfs/top_down.hpp"
#include "karpos/distributed/communicator.hpp"

// The level loop over ranks. The steps are those of one device (detail/graph/bfs); each rank
// handles its own vertices. A level has these steps:
//
//   top-down   expand_frontier marks the unvisited neighbours of this rank's frontier, whichever
//              rank owns them. The marks go to all ranks (launched_ranks: merge_all; spanning grid:
//              send_marks). Then each rank scans its own vertices: it writes distances and the
//              frontier queue (commit_and_count, scan_compact), or distances alone if the next
//              level is to be bottom-up (commit_marks).
//   bottom-up  bottom_up_bitmap looks for a visited neighbour of this rank's unvisited vertices.
//              The bits found go to all ranks (merge_own; copy_to_peers). If a top-down level
//              follows, each rank first scans them for its frontier queue.
//   then       The totals are added up over all ranks, so that all choose one direction, or end.
//
// There is one program and two grids. launched_ranks runs each step as a kernel, and exchanges
// through the communicator between the steps. A spanning grid (device/peers.hpp) runs the search in
// one kernel on each device, with status bitmaps in windows: send_marks writes marks to those of
// all ranks, and a bottom-up level writes words to them as it finds vertices.
//
// `own` is the progress of this rank (the segments of its queue), `all` that of all ranks together.
// Every decision reads `all`.

namespace karpos::detail::distributed {

using device::make_step;

/// State that the loop keeps from level to level.
struct rank_progress {
  bfs::progress own, all;
};

/// Runs a program over ranks from the host: each step as a kernel, and messages between the steps.
template <class ExecSpace>
class launched_ranks : public device::launched_grid<ExecSpace> {
  using grid = device::launched_grid<ExecSpace>;
  using communicator = karpos::distributed::communicator<ExecSpace>;

 public:
  static constexpr bool spans = false;

  launched_ranks(communicator const& ranks, grid const& steps, found_exchange<ExecSpace>& exchange)
      : grid(steps),
        m_ranks(ranks),
        m_exchange(exchange) {}

  /// Runs a step without waiting for other ranks: no rank writes to another's memory.
  template <class Step, class Then>
  void run_on_all(Step const& step, Then const& then) {
    grid::run(step, then);
  }
  template <class Step, class Then>
  void run_on_all(Step const& step, frontier::level_counters const* mine, Then const& then) {
    grid::run(step, [] {});
    gather(mine, then);
  }
  template <class Then>
  void gather(frontier::level_counters const* mine, Then const& then) {
    m_messages = m_ranks.all_gather(grid::read(mine));
    then();
  }
  template <class T>
  T const& of_rank(int r) const {
    return m_messages[static_cast<std::size_t>(r)];
  }
  int ranks() const { return m_ranks.size(); }
  int rank() const { return m_ranks.rank(); }
  found_exchange<ExecSpace>& exchange() const { return m_exchange; }

  /// Writes a record of the search, which is in host memory.
  template <class T>
  void write(T* p, T const& value) {
    *p = value;
  }

 private:
  communicator const& m_ranks;
  found_exchange<ExecSpace>& m_exchange;
  std::vector<frontier::level_counters> m_messages;
};

/// One search on one rank. `State`: rank_state.
template <class State>
struct rank_level_loop {
  using shared = rank_progress;

  State s;
  bfs::search_plan plan;
  frontier::source_list sources;      // of all ranks
  std::uint64_t non_isolated, edges;  // of the whole graph
  bfs::search_record* record;         // where grid.write writes

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void operator()(Grid& grid, rank_progress& p) const {
    grid.run_on_all(make_step<reset_rank>(grid, s, sources), [&] { begin(p); });
    if (sources.list == nullptr && sources.count == 1) {
      grid.run_on_all(make_step<seed_single>(grid, s, p.own, sources.single), &s.counters(0),
                      [&] { decide(grid, p); });
    } else {
      if (sources.count > 0) grid.run(make_step<mark_sources>(grid, s, sources), [] {});
      scan_marks(grid, p);
    }
    while (!p.all.done)
      if (p.own.bottom_up)
        expand_bottom_up(grid, p);
      else
        expand_top_down(grid, p);
  }

 private:
  KOKKOS_FUNCTION void begin(rank_progress& p) const {
    p.own.begin(s);
    p.all.begin(s);
    p.all.unvisited = non_isolated;
    p.all.edges_unexplored = edges;
  }
  status_words words(rank_progress const& p) const {
    return {s.bitmap(p.own.current), s.bitmap(1 - p.own.current), s.words, s.first_word(),
            s.own_words()};
  }

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void expand_top_down(Grid& grid, rank_progress& p) const {
    if (p.own.frontier.unqueued > 0)  // found bottom-up
      bfs::scan(grid, s, p.own, bfs::scan_target::found_bottom_up,
                [&] { advance_own_segment(grid, p); });
    grid.run(make_step<bfs::expand_frontier>(grid, s, p.own, bfs::frontier_output::status_bits),
             [] {});
    if constexpr (Grid::spans)
      grid.run_on_all(make_step<send_marks>(grid, s, p.own), [] {});
    else
      grid.exchange().merge_all(words(p));
    if (p.own.count_only)
      grid.run_on_all(make_step<commit_marks>(grid, s, p.own), &s.counters(p.own.level + 1),
                      [&] { decide(grid, p); });
    else
      scan_marks(grid, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void expand_bottom_up(Grid& grid, rank_progress& p) const {
    auto const step = make_step<bfs::bottom_up_bitmap>(grid, s, p.own, false);
    frontier::level_counters const* const found = &s.counters(p.own.level + 1);
    auto const next_level = [&] {
      p.own.current = 1 - p.own.current;
      decide(grid, p);
    };
    if constexpr (Grid::spans) {
      grid.run_on_all(step, found, next_level);
    } else {
      grid.run(step, [] {});
      grid.exchange().merge_own(words(p), grid.read(found).unqueued);
      grid.gather(found, next_level);
    }
  }
  /// Turns marks into distances and the frontier, and decides about the next level.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void scan_marks(Grid& grid, rank_progress& p) const {
    constexpr auto marks = bfs::scan_target::status_bits;
    grid.run(make_step<commit_and_count>(grid, s, p.own, marks), [] {});
    grid.run_on_all(make_step<bfs::scan_compact>(grid, s, p.own, marks),
                    &s.counters(p.own.level + 1), [&] { decide(grid, p); });
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void advance_own_segment(Grid& grid, rank_progress& p) const {
    p.own.advance_segment(grid.read(&s.counters(p.own.level)));
  }

  /// Makes the found level the frontier; chooses by the totals of all ranks how it is expanded.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void decide(Grid& grid, rank_progress& p) const {
    p.own.advance(grid.template of_rank<frontier::level_counters>(grid.rank()));
    bfs::decide(grid, plan, State::tuned::probes_per_claim, record, p.all, sum_over_ranks(grid));
    p.own.follow(p.all);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION static frontier::level_counters sum_over_ranks(Grid const& grid) {
    frontier::level_counters sum{};
    for (int r = 0; r < grid.ranks(); ++r) {
      auto const c = grid.template of_rank<frontier::level_counters>(r);
      for (int i = 0; i < frontier::degree_classes; ++i) sum.in_class[i] += c.in_class[i];
      sum.unqueued += c.unqueued;
      sum.hubs += c.hubs;
      sum.edges += c.edges;
      sum.edges_examined += c.edges_examined;
    }
    return sum;
  }
};

}  // namespace karpos::detail::distributed
