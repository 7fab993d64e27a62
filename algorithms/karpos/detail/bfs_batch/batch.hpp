// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "karpos/bfs_batch_options.hpp"
#include "karpos/bfs_batch_workspace.hpp"
#include "karpos/detail/bfs_batch/results.hpp"
#include "karpos/device/league.hpp"

// A batch from the host: passes of 64 searches; of a pass, parts of 15 levels, for that many have values in the planes.

namespace karpos::detail::bfs_batch {

/// Looks the new numbers of some sources up.
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
        m_plan{o.pull_from, o.pull_until, max_distance, w.m_has_in} {}

  /// Runs the searches from the sources first … first + searches - 1 and adds what they have found to the report.
  template <class Sources, class Distances>
  void run(Sources const& sources, std::uint64_t first, int searches, Distances const& distances,
           bfs_batch_report& report) const {
    auto const& w = m_workspace;
    Kokkos::parallel_for(
        "karpos::bfs_batch::sources", index_range(m_exec, static_cast<std::uint64_t>(searches)),
        number_sources<Sources>{sources, first, w.m_ordered.rank().data(), w.m_sources.data()});
    batch_record r{};
    r.state.level = -1;
    do {
      search(r.state, searches);
      write(distances);
      r = read_back(m_exec, w.m_record.data(), "karpos::bfs_batch: report");
      r.state.full = false;
      r.state.base += last_value;
    } while (!r.state.done);
    add_to(report, r, searches);
  }

 private:
  void search(progress const& from, int searches) const {
    using tuned = tuning<ExecSpace>;
    using loop = level_loop<typename workspace::state_type>;
    auto const& w = m_workspace;
    auto const program = [&](bool launched) {
      auto s = w.state(launched);
      s.searches = searches;
      return loop{s, m_plan, from, w.m_record.data()};
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
  template <class Distances>
  void write(Distances const& distances) const {
    auto const& w = m_workspace;
    using step = write_results<typename workspace::state_type, Distances>;
    int const teams = device::native_part<ExecSpace>::processors(m_exec) *
                      (device::is_device<ExecSpace> ? step::teams_at_once : 16);
    device::for_each_in_league(
        "karpos::bfs_batch::results", m_exec, teams,
        step{w.state(false), distances, w.m_ordered.rank().data(), w.m_record.data()});
  }
  static void add_to(bfs_batch_report& report, batch_record const& r, int searches) {
    report.levels += *std::max_element(r.state.levels, r.state.levels + searches);
    report.pull_levels += r.state.pull_levels;
    report.edges_pushed += r.state.edges_pushed;
    for (int i = 0; i < searches; ++i)
      report.source.push_back({r.state.levels[i], r.totals.visited[i], r.totals.distances[i]});
  }

  ExecSpace m_exec;
  workspace m_workspace;
  launch_mode m_driver;
  batch_plan m_plan;
};

}  // namespace karpos::detail::bfs_batch
