// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <karpos/bfs.hpp>
#include <karpos/validate_bfs.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "perf/measure/bfs/measure.hpp"
#include "perf/measure/bfs/measure_batch.hpp"
#include "perf/measure/bfs/reach.hpp"
#include "perf/measure/bfs/simple_bfs.hpp"
#include "perf/measure/bfs/status_array_bfs.hpp"
#include "perf/measure/bfs/timeline.hpp"
#include "perf/measure/bfs/write_result.hpp"
#include "perf/measure/graph/draw_sources.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

/// Measures searches in one graph from one source after the other.
template <class Offset>
class bfs_measurement {
 public:
  using graph_type = csr_graph<std::uint32_t, Offset, memory>;

  bfs_measurement(bfs_parameters const& p, reporter const& report)
      : m_report(report),
        m_timer(m_exec) {
    m_run.parameters = p;
    m_run.offset_bits = 8 * sizeof(Offset);
  }

  bfs_run operator()(opened_graph graph) {
    m_run.graph = std::move(graph.name);
    m_run.names = std::move(graph.names);
    m_run.layout = std::move(graph.layout);
    m_graph = build_graph<Offset>(
        m_exec, graph.source, parameters().directed,
        [&](double part, auto& w) { m_report(0.5 + 0.2 * part, w); }, parameters().clean());
    graph.source = {};  // frees the memory
    m_run.load_seconds = graph.clock.seconds();
    m_run.vertices = m_graph.vertices();
    m_run.edges = m_graph.edges();
    m_run.undirected = m_graph.is_undirected();
    m_run.first_with_edges = first_with_edges(m_exec, m_graph);
    m_run.without_edges = count_without_edges(m_exec, m_graph);
    if (parameters().degrees) m_run.degrees = degrees_of(m_graph);
    auto const sources = chosen_sources();
    prepare(sources.front());
    for (std::uint64_t const s : sources) search_from(s, sources.size());
    if (parameters().timeline) record_timelines(sources.front());
    if (parameters().energy) measure_energy(sources);
    if (parameters().batch) search_at_once();
    if (!parameters().output.empty()) write();
    return std::move(m_run);
  }

 private:
  bfs_parameters const& parameters() const { return m_run.parameters; }

  std::vector<std::uint64_t> chosen_sources() const {
    bfs_parameters const& p = parameters();
    if (p.sources > 0)
      return draw_sources(m_exec, m_graph, p.sources, p.seed, p.batch ? "--batch" : "--sources");
    std::uint64_t const n = m_graph.vertices();
    if (n == 0) throw std::invalid_argument("karpos: " + p.graph + " has no vertex to start from");
    if (!p.source) return {m_run.first_with_edges < n ? m_run.first_with_edges : 0};
    return {vertex_of(*p.source, m_run.names, n)};
  }

  /// Allocates the workspace and the results of searches, and warms up.
  void prepare(std::uint64_t source) {
    m_exec.fence("karpos::perf: before the workspace");
    Kokkos::Timer clock;
    bfs_workspace<space, graph_type> workspace(m_exec, m_graph);
    pad_rows(workspace);
    m_exec.fence("karpos::perf: workspace");
    m_run.prepare_seconds = clock.seconds();
    m_run.workspace_bytes = workspace.bytes_for(m_exec, m_graph) + workspace.padded_bytes();
    m_search = std::make_unique<bfs_search<space, graph_type>>(m_exec, workspace);
    m_distance = make_array<std::int32_t>("distances", m_graph.vertices());
    if (parameters().parents) m_parent = make_array<std::uint32_t>("parents", m_graph.vertices());
    search(source);
    prepare_presets(source);
    if (!parameters().baseline) return;
    m_baseline = std::make_unique<simple_bfs<graph_type>>(m_exec, m_graph);
    (*m_baseline)(source);
  }

  void pad_rows(bfs_workspace<space, graph_type>& workspace) {
    int const hops = parameters().pad_rows;
    int const made = hops > 0 ? workspace.pad_rows(m_exec, hops) : hops;
    if (made == hops) return;
    throw std::invalid_argument(
        made == 0 ? "karpos: --pad-rows does not apply (on CPUs, and with more than four edges a "
                    "vertex, searches would not gain from it): leave it out"
                  : "karpos: --pad-rows 2 does not apply (the graph is directed): pass 1");
  }

  void search(std::uint64_t source) const {
    m_search->start(source, m_distance, m_parent, parameters().options);
  }

  void prepare_presets(std::uint64_t source) {
    if (parameters().presets.empty()) return;
    m_preset_distance = make_array<std::int32_t>("distances of presets", m_graph.vertices());
    for (bfs_preset const& p : parameters().presets) search_by(p, source);
  }
  /// Searches by a preset. Returns, for a status array, the first level that runs bottom-up;
  /// m_search reports that level for other presets.
  std::int32_t search_by(bfs_preset const& p, std::uint64_t source) const {
    bfs_options const& o = p.own_switch ? p.options : parameters().options;
    if (p.status_array)
      return status_array_bfs(m_exec, m_graph, source, o.alpha, o.beta, m_preset_distance);
    bfs_options options = p.options;
    options.driver = launch_mode::kernel_per_step;
    options.alpha = o.alpha;
    options.beta = o.beta;
    options.gamma = o.gamma;
    m_search->start(source, m_preset_distance, array<std::uint32_t>(), options);
    return 0;
  }
  /// Adds a preset's times to the result of its source, and compares the distances.
  void search_by(bfs_preset const& p, bfs_result& r) {
    samples& times = r.preset_time.emplace_back();
    for (int i = 0; i < parameters().repetitions; ++i)
      times.seconds.push_back(m_timer.once([] {}, [&] { search_by(p, r.source); }));
    bfs_report const of_array{.first_bottom_up = search_by(p, r.source), .level = {}};
    r.preset_report.push_back(p.status_array ? of_array : m_search->report());
    auto const n = differences(m_exec, m_distance, m_preset_distance);
    if (n > 0 && r.defect.empty())
      r.defect = grouped(n) + " distances by --preset " + p.name + " are not those of karpos";
  }

  void search_from(std::uint64_t source, std::size_t of) {
    auto const done = m_run.searches.size();
    m_report(0.7 + 0.3 * static_cast<double>(done) / static_cast<double>(of),
             "search " + grouped(done + 1) + " of " + grouped(of));
    bfs_result r;
    r.source = source;
    for (int i = 0; i < parameters().repetitions; ++i)
      r.time.seconds.push_back(m_timer.once([] {}, [&] { search(source); }));
    r.report = m_search->report();
    r.reach = reach_of(m_exec, m_graph, m_distance);
    if (parameters().baseline)
      for (int i = 0; i < parameters().repetitions; ++i)
        r.baseline_time.seconds.push_back(m_timer.once([] {}, [&] { (*m_baseline)(source); }));
    r.defect = defect_of(r);
    for (bfs_preset const& p : parameters().presets) search_by(p, r);
    m_run.searches.push_back(std::move(r));
  }

  void record_timelines(std::uint64_t source) {
    bfs_options options = parameters().options;
    options.driver = launch_mode::kernel_per_step;
    options.local_search_hops = 0;
    record_timeline("", [&] { m_search->start(source, m_distance, m_parent, options); });
    for (bfs_preset const& p : parameters().presets)
      record_timeline(p.name, [&] { search_by(p, source); });
  }
  template <class Search>
  void record_timeline(std::string const& preset, Search const& search_once) {
    kernel_clock const clock;
    search_once();
    m_exec.fence("karpos::perf: end of a timeline");
    m_run.timelines.push_back(timeline_of(preset, clock.seconds(), clock.kernels()));
  }

  void measure_energy(std::vector<std::uint64_t> const& sources) {
    m_report(0.98, "energy");
    m_run.energy = energy_of_searches(sources, [&](std::uint64_t s) { search(s); });
    for (bfs_preset const& p : parameters().presets)
      m_run.preset_energy.push_back(
          energy_of_searches(sources, [&](std::uint64_t s) { search_by(p, s); }));
    search(sources.back());  // restores the last result
  }
  template <class Search>
  energy_use energy_of_searches(std::vector<std::uint64_t> const& sources,
                                Search const& search_once) const {
    return energy_of(m_exec, parameters().energy_seconds, [&](auto const& read_counters) {
      for (std::size_t i = 0; i < sources.size(); ++i) {
        search_once(sources[i]);
        if (i % 64 == 63) read_counters();
      }
      m_exec.fence("karpos::perf: energy of searches");
    });
  }

  /// Measures the batch, with 8-bit distances if these suffice.
  void search_at_once() {
    std::int32_t depth = 0;
    for (bfs_result const& r : m_run.searches) depth = std::max(depth, r.reach.depth);
    if (depth < 255)
      search_at_once<std::uint8_t>();
    else
      search_at_once<std::int32_t>();
  }
  template <class Value>
  void search_at_once() {
    m_report(0.99, "searches at once");
    batch_measurement<graph_type, Value>(m_exec, m_graph, m_run)(
        m_graph, m_distance, [&](std::uint64_t source) { search(source); });
  }

  /// Returns what is wrong with an answer; empty if nothing is.
  std::string defect_of(bfs_result const& r) const {
    if (r.report.visited != r.reach.vertices || r.report.levels != r.reach.depth + 1)
      return "the report counts " + grouped(r.report.visited) + " vertices in " +
             std::to_string(r.report.levels) + " levels, the distances " +
             grouped(r.reach.vertices) + " in " + std::to_string(r.reach.depth + 1);
    if (m_baseline)
      if (auto const n = differences(m_exec, m_distance, m_baseline->distance); n > 0)
        return grouped(n) + " distances are not those of the baseline";
    if (parameters().validate) {
      auto const defects = validate_bfs(m_exec, m_graph, r.source, m_distance, m_parent);
      if (!defects.valid()) return defects.to_string();
    }
    return {};
  }

  void write() const {
    auto const distance = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_distance);
    auto const parent = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_parent);
    write_result(parameters().output, {distance.extent(0), distance.data(), parent.data(), &m_run});
  }

  bfs_run m_run;
  reporter const& m_report;
  space m_exec;
  timer<space> m_timer;
  graph_type m_graph;
  std::unique_ptr<bfs_search<space, graph_type>> m_search;
  std::unique_ptr<simple_bfs<graph_type>> m_baseline;
  array<std::int32_t> m_distance, m_preset_distance;
  array<std::uint32_t> m_parent;
};

template <class Offset>
bfs_run measure_bfs(bfs_parameters const& p, opened_graph graph, reporter const& report) {
  return bfs_measurement<Offset>(p, report)(std::move(graph));
}

}  // namespace karpos::perf
