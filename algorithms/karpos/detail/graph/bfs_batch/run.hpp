// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "karpos/bfs_batch_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/bfs_batch/plan.hpp"
#include "karpos/detail/graph/bfs_batch/pull.hpp"
#include "karpos/detail/graph/bfs_batch/push.hpp"
#include "karpos/detail/graph/bfs_batch/results.hpp"
#include "karpos/detail/graph/bfs_batch/start.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/program.hpp"

// Runs a batch from the host, in passes of 64 searches. A pass runs in parts of 15 levels, because
// the planes hold 15 values. The loop over levels resembles that of bfs/run.hpp. A pass with
// many levels of few vertices is given up after a part, and its searches run one by one.

namespace karpos {

template <execution_space ExecSpace, class Graph>
class bfs_search;
template <execution_space ExecSpace, class Graph>
class bfs_batch_workspace;

}  // namespace karpos

namespace karpos::detail::bfs_batch {

using device::make_step;

template <class State>
struct level_loop {
  static constexpr char const* label = "karpos::bfs_batch::search";
  using shared = progress;

  State s;
  batch_plan plan;
  progress from;  // level is -1 for a new pass

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Grid& grid, progress& p) const {
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
        grid.run(make_step<list_frontier>(grid, s, p), [&] { count_items(grid, p); });
      grid.run(make_step<push>(grid, s, p), [] {});
      grid.run(make_step<update>(grid, s, p), [&] {
        p.edges_pushed += p.frontier.edges;
        p.current = 1 - p.current;
        decide(grid, p);
      });
    }
  }

 private:
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void count_items(Grid& grid, progress& p) const {
    p.frontier.items = grid.read(&s.totals_of(p.level)).items;
    p.has_items = true;
  }
  /// Makes the level that has just been found the frontier, and decides how it is expanded.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void decide(Grid& grid, progress& p) const {
    level_totals const next = grid.read(&s.totals_of(p.level + 1));
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
    if (p.done || p.full) grid.write(&s.record->state, p);
  }
  KOKKOS_FUNCTION static void record_levels(progress& p, word ended, std::int32_t levels) {
    for (lane_mask<64> m(ended); m; m = m.without_first()) p.levels[m.first()] = levels;
  }
};

/// Number of distances of 32 bits that fit into the bit planes of a vertex.
inline constexpr int rows_in_planes = planes * sizeof(word) / sizeof(std::int32_t);

/// Counts the vertices of a row with distances up to max_distance, and adds these distances up.
struct sum_row {
  struct value_type {
    std::uint64_t visited, distances;
  };
  std::int32_t const* row;
  std::int32_t max_distance;

  KOKKOS_FUNCTION void init(value_type& sum) const { sum = {0, 0}; }
  KOKKOS_FUNCTION void join(value_type& sum, value_type const& other) const {
    sum.visited += other.visited;
    sum.distances += other.distances;
  }
  KOKKOS_FUNCTION void operator()(std::uint64_t v, value_type& sum) const {
    std::int32_t const d = row[v];
    bool const counts = d >= 0 && d <= max_distance;
    sum.visited += counts ? 1 : 0;
    sum.distances += counts ? static_cast<std::uint64_t>(d) : 0;
  }
};

/// Writes the distances of some searches to vertex v, in the layout of distance_rows.
template <class View>
struct write_rows {
  View to;
  std::uint64_t first;  // source of the first row
  int count;
  local_vertex const* rank;
  std::int32_t const* rows;
  std::uint64_t vertices;
  std::int32_t max_distance;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    std::int32_t const* const from = rows + rank[v];
    for (int k = 0; k < count; ++k) {
      std::int32_t const d = from[static_cast<std::uint64_t>(k) * vertices];
      to(first + static_cast<std::uint64_t>(k), v) =
          static_cast<typename View::non_const_value_type>(d > max_distance ? -1 : d);
    }
  }
};

/// Looks up the new numbers of some sources.
template <class Sources>
struct number_sources {
  Sources sources;
  std::uint64_t first;
  local_vertex const* rank;
  local_vertex* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = rank[sources(first + i)]; }
};

template <class ExecSpace, class Graph>
class batch {
 public:
  using workspace = bfs_batch_workspace<ExecSpace, Graph>;

  batch(ExecSpace const& exec, workspace const& w, bfs_batch_options const& o,
        std::int32_t max_distance)
      : m_exec(exec),
        m_workspace(w),
        m_driver(o.driver),
        m_plan{o.pull_from, o.pull_until, max_distance, w.m_has_in, never, false} {}

  /// Runs `searches` searches, from source number `first` on, and adds their results to the report.
  template <class Sources, class Distances>
  void run(Sources const& sources, std::uint64_t first, int searches, Distances const& distances,
           bfs_batch_report& report) const {
    auto const& w = m_workspace;
    Kokkos::parallel_for(
        "karpos::bfs_batch::sources", index_range(m_exec, static_cast<std::uint64_t>(searches)),
        number_sources<Sources>{sources, first, w.m_ordered.rank().data(), w.state(false).sources});
    batch_plan plan = plan_for(searches);
    batch_record r{};
    r.state.level = -1;
    do {
      search(r.state, searches, plan);
      r = write_part(distances, false);
      if (r.state.one_by_one) {
        if (auto const* const single_workspace = w.try_single_workspace(m_exec)) {
          search_one_by_one(*single_workspace, searches, distances, report);
          break;
        }
        plan.break_even_parts = never;
        r = write_part(distances, true);
      }
      require_possible(r.state);
      r.state.full = false;
      r.state.base += last_value;
    } while (!r.state.done);
    add_to(report, r, searches);
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// Throws std::logic_error if a pass has found more levels than the graph has vertices.
  void require_possible(progress const& p) const {
    std::uint64_t const n = m_workspace.m_ordered.graph().vertices();
    if (!p.done && static_cast<std::uint64_t>(p.level) >= n)
      reject<std::logic_error>(
          "a pass was stopped",
          "level " + std::to_string(p.level) + " in a graph of " + std::to_string(n) + " vertices",
          "run one batch of a workspace at a time, and write nothing to its memory, or report "
          "this");
  }
  /// Returns the plan of a pass. break_even_parts compares costs: a CPU thread takes 6 ns a vertex
  /// for a part, and 0.5 (Kronecker) to 10 ns (path) per vertex and edge for one search by bfs.
  batch_plan plan_for(int searches) const {
    using tuned = tuning<ExecSpace>;
    auto plan = m_plan;
    auto const& g = m_workspace.m_ordered.graph();
    std::uint64_t const n = g.vertices();
    plan.small = g.edges() < tuned::small_edges;
    if (n > 0 && tuned::is_one_by_one_faster(n, searches))
      plan.break_even_parts = std::max(
          tuned::min_parts, static_cast<std::int64_t>(static_cast<std::uint64_t>(searches) *
                                                      (1 + g.edges() / n) / 32));
    return plan;
  }

  void search(progress const& from, int searches, batch_plan const& plan) const {
    using tuned = tuning<ExecSpace>;
    using loop = level_loop<typename workspace::state_type>;
    auto const& w = m_workspace;
    auto const program = [&](bool launched) {
      auto s = w.state(launched);
      s.searches = searches;
      return loop{s, plan, from};
    };
    if constexpr (device::has_grid_barrier<ExecSpace>)
      if (m_driver != launch_mode::kernel_per_step &&
          device::run_in_one_kernel<tuned::team_threads, tuned::teams_per_processor>(
              m_exec, w.m_grid[0], program(false)))
        return;
    device::run_program<tuned::team_threads, tuned::teams_per_processor>(
        m_exec, m_driver == launch_mode::automatic ? launch_mode::kernel_per_step : m_driver,
        w.m_grid[1], program(true));
  }
  /// Writes the results of a part (see write_results). Returns: the record of the pass.
  template <class Distances>
  batch_record write_part(Distances const& distances, bool even_if_one_by_one) const {
    auto const& w = m_workspace;
    using step = write_results<typename workspace::state_type, Distances>;
    int const teams = device::native_part<ExecSpace>::processors(m_exec) *
                      (device::is_device<ExecSpace> ? step::teams_at_once : 16);
    auto const s = w.state(false);
    device::for_each_in_league("karpos::bfs_batch::results", m_exec, teams,
                               step{s, distances, w.m_ordered.rank().data(), even_if_one_by_one});
    return read_back(m_exec, s.record, "karpos::bfs_batch: report");
  }
  /// Runs the searches of a pass one by one. In graphs with many levels of few vertices, a pass
  /// reads all words of its bitmaps at every level. Eight searches write their distances to the
  /// memory of the bit planes, then all eight of a vertex are written in the user's order at once.
  template <class Distances>
  void search_one_by_one(typename workspace::single_workspace const& of_one, int searches,
                         Distances const& distances, bfs_batch_report& report) const {
    auto const& w = m_workspace;
    local_vertex sources[searches_at_once];
    auto const s = w.state(false);
    Kokkos::deep_copy(m_exec, unmanaged<Kokkos::HostSpace>(sources, searches_at_once),
                      unmanaged<typename Graph::memory_space>(s.sources, searches_at_once));
    m_exec.fence("karpos::bfs_batch: sources");
    std::uint64_t const n = of_one.vertices();
    auto* const rows = reinterpret_cast<std::int32_t*>(s.plane);
    for (int first = 0; first < searches; first += rows_in_planes) {
      int const count = std::min(searches - first, rows_in_planes);
      for (int k = 0; k < count; ++k)
        report.source.push_back(
            search_one(of_one, sources[first + k], rows + static_cast<std::uint64_t>(k) * n));
      if constexpr (Distances::wanted) {
        using step = write_rows<decltype(distances.to)>;
        Kokkos::parallel_for("karpos::bfs_batch::rows", index_range(m_exec, n),
                             step{distances.to, distances.first + static_cast<std::uint64_t>(first),
                                  count, w.m_ordered.rank().data(), rows, n, m_plan.max_distance});
      }
    }
    m_exec.fence("karpos::bfs_batch: one by one");
    report.one_by_one += static_cast<std::uint64_t>(searches);
  }
  bfs_source_report search_one(typename workspace::single_workspace const& of_one,
                               local_vertex source, std::int32_t* row) const {
    std::uint64_t const n = of_one.vertices();
    using memory_space = typename Graph::memory_space;
    bfs_search const one(m_exec, of_one);
    one.start(source, unmanaged<memory_space>(row, n), Kokkos::View<local_vertex*, memory_space>(),
              {.driver = m_driver});
    auto const found = one.report();
    sum_row::value_type sum{};
    Kokkos::parallel_reduce("karpos::bfs_batch::sums", index_range(m_exec, n),
                            sum_row{row, m_plan.max_distance}, sum);
    auto const most = static_cast<std::int64_t>(m_plan.max_distance) + 1;
    return {static_cast<std::int32_t>(std::min<std::int64_t>(found.levels, most)), sum.visited,
            sum.distances};
  }
  /// Adds the work of a pass to the report, and its results unless it was given up.
  static void add_to(bfs_batch_report& report, batch_record const& r, int searches) {
    report.pull_levels += r.state.pull_levels;
    report.edges_pushed += r.state.edges_pushed;
    if (r.state.done)
      for (int i = 0; i < searches; ++i)
        report.source.push_back({r.state.levels[i], r.visited[i], r.distances[i]});
    std::int32_t most = 0;
    for (auto s = report.source.end() - searches; s != report.source.end(); ++s)
      most = std::max(most, s->levels);
    report.levels += most;
  }

  ExecSpace m_exec;
  workspace m_workspace;
  launch_mode m_driver;
  batch_plan m_plan;
};

/// Runs passes of 64 searches. make(first, searches) returns where the distances of a pass go.
template <class ExecSpace, class Graph, class Sources, class Make>
bfs_batch_report run_passes(ExecSpace const& exec,
                            bfs_batch_workspace<ExecSpace, Graph> const& workspace,
                            Sources const& sources, bfs_batch_options const& options,
                            std::int32_t max_distance, Make const& make) {
  std::uint64_t const vertices = workspace.vertices();
  Kokkos::Profiling::ScopedRegion const region("karpos::bfs_batch");
  require_reachable<ExecSpace, Sources>();
  require_enumerators(options.driver);
  if (max_distance < 0)
    reject("max_distance is negative", std::to_string(max_distance), "pass 0 or more");
  if (auto const count = frontier::sources_out_of_range("karpos::bfs_batch::check_sources", exec,
                                                        sources, vertices);
      count > 0)
    reject(std::to_string(count) + " sources are no vertices",
           "the graph has " + std::to_string(vertices), "pass vertices below that");
  batch<ExecSpace, Graph> const b(exec, workspace, options, max_distance);
  bfs_batch_report report;
  report.source.reserve(sources.extent(0));
  for (std::uint64_t first = 0; first < sources.extent(0); first += searches_at_once) {
    int const searches =
        static_cast<int>(std::min(sources.extent(0) - first, std::uint64_t(searches_at_once)));
    b.run(sources, first, searches, make(first, searches), report);
  }
  return report;
}

}  // namespace karpos::detail::bfs_batch
