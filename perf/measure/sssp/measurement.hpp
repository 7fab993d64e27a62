// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <karpos/bfs.hpp>
#include <karpos/sssp.hpp>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "perf/measure/graph/draw_sources.hpp"
#include "perf/measure/sssp/delta_stepping.hpp"
#include "perf/measure/sssp/measure.hpp"
#include "perf/measure/sssp/plain_text.hpp"
#include "perf/measure/sssp/proof.hpp"
#include "perf/measure/support/output_file.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

/// Measures shortest paths in one graph from one source after the other.
template <class Offset, class Weight>
class sssp_measurement {
 public:
  using graph_type = csr_graph<std::uint32_t, Offset, memory>;

  sssp_measurement(sssp_run& run, reporter const& report)
      : m_run(run),
        m_report(report),
        m_timer(m_exec) {}

  void operator()(opened_graph& graph, bool keeps_source) {
    bool const directed = parameters().directed;
    reporter const rows = [&](double part, auto& w) { m_report(0.5 + 0.2 * part, w); };
    if (m_run.weights.of_file) {
      auto const built = build_weighted_graph<Weight, Offset>(
          m_exec, std::get<edge_list>(graph.source), directed, rows);
      m_graph = built.graph;
      m_weight = built.weights;
    } else {
      m_graph = build_graph<Offset>(m_exec, graph.source, directed, rows);
      draw();
    }
    if (!keeps_source) graph.source = {};  // frees the memory
    m_run.vertices = m_graph.vertices();
    m_run.edges = m_graph.edges();
    m_run.undirected = m_graph.is_undirected();
    m_run.load_seconds = graph.clock.seconds();
    measure(chosen_sources());
    if (!parameters().output.empty()) write();
  }

 private:
  static constexpr bool has_integers = std::is_same_v<Weight, std::uint32_t>;

  sssp_parameters const& parameters() const { return m_run.parameters; }

  void draw() {
    if constexpr (has_integers) {
      m_weight = make_array<Weight>("weights", m_graph.edges());
      Kokkos::parallel_for("karpos::perf::draw_weights", range(m_exec, m_graph.vertices()),
                           draw_weights<graph_type>{m_graph.row_offsets(), m_graph.column_indices(),
                                                    m_weight, parameters().max_weight});
      m_exec.fence("karpos::perf: weights");
    }
  }

  std::vector<std::uint64_t> chosen_sources() const {
    sssp_parameters const& p = parameters();
    if (p.source) return {vertex_of(*p.source, m_run.names, m_graph.vertices())};
    return draw_sources(m_exec, m_graph, std::max<std::uint64_t>(p.sources, 1), p.seed,
                        p.sources > 0 ? "--sources" : "");
  }

  void measure(std::vector<std::uint64_t> const& sources) {
    m_exec.fence("karpos::perf: before the workspace");
    Kokkos::Timer clock;
    sssp_workspace workspace(m_exec, m_graph, m_weight);
    if (parameters().sort_rows && !workspace.sort_rows(m_exec, parameters().options.reach))
      throw std::invalid_argument(
          "karpos: --sort-rows does not apply (paths of this graph have no reach: its edges lead "
          "one "
          "way, it has no hubs, or --reach is beyond all): leave it out");
    m_exec.fence("karpos::perf: workspace");
    m_run.prepare_seconds = clock.seconds();
    m_run.workspace_bytes = workspace.bytes();
    m_run.automatic_delta = workspace.delta();
    bfs_workspace const searched(m_exec, m_graph);
    auto const hops = make_array<std::int32_t>("hops", m_graph.vertices());
    m_distance = make_array<Weight>("distances", m_graph.vertices());
    if (parameters().parents) m_parent = make_array<std::uint32_t>("parents", m_graph.vertices());
    prepare_baseline();
    for (std::uint64_t const s : sources) {
      m_report(0.7 + 0.3 * static_cast<double>(m_run.results.size()) /
                         static_cast<double>(sources.size()),
               "source " + grouped(m_run.results.size() + 1));
      sssp_result r;
      r.source = s;
      r.time = repeat([&] {
        r.report = sssp(m_exec, workspace, s, m_distance, m_parent, parameters().options);
      });
      auto const sums = prove(m_exec, m_graph, m_weight, m_distance, m_parent, s);
      r.reached = sums.reached;
      r.reached_edges = sums.edges;
      r.farthest = sums.farthest;
      r.wrong = sums.wrong;
      r.bfs_time = repeat([&] { bfs(m_exec, searched, s, hops); });
      measure_baseline(r);
      m_run.results.push_back(std::move(r));
    }
  }
  template <class Work>
  samples repeat(Work const& work) {
    return m_timer.repeat(
        parameters().repetitions, [] {}, work);
  }

  void prepare_baseline() {
    if constexpr (on_host && has_integers)
      if (parameters().baseline)
        m_baseline = std::make_unique<delta_stepping<Offset>>(
            m_graph.vertices(), m_graph.row_offsets().data(), m_graph.column_indices().data(),
            m_weight.data());
  }
  void measure_baseline(sssp_result& r) {
    if constexpr (on_host && has_integers) {
      if (!m_baseline) return;
      std::uint32_t const delta = parameters().baseline_delta > 0
                                      ? parameters().baseline_delta
                                      : static_cast<std::uint32_t>(r.report.delta);
      auto const farthest = static_cast<std::uint64_t>(r.farthest);
      if (farthest / delta > std::uint64_t(1) << 24)
        throw std::invalid_argument("karpos: --baseline takes too much memory (distances up to " +
                                    grouped(farthest) + " in buckets of " + grouped(delta) +
                                    "): choose a larger --baseline-delta");
      r.baseline_time = repeat([&] { (*m_baseline)(static_cast<std::uint32_t>(r.source), delta); });
      for (std::uint64_t v = 0; v < m_graph.vertices(); ++v)
        r.wrong += m_baseline->distance()[v] != m_distance(v) ? 1 : 0;
    }
  }

  void write() const {
    auto const distance = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_distance);
    auto const parent = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_parent);
    vertex_names const& names = m_run.names;
    output_file out(parameters().output);
    for (std::size_t v = 0; v < distance.extent(0); ++v) {
      bool const found = distance(v) != no_distance<Weight>;
      std::string line =
          line_begin(names, v) + (found ? plain_text(static_cast<double>(distance(v))) : "-1");
      if (parent.extent(0) != 0)
        line += column_separator(names) + (found ? names[parent(v)] : "-1");
      out.write(line + '\n');
    }
    out.close();
  }

  sssp_run& m_run;
  reporter const& m_report;
  space m_exec;
  timer<space> m_timer;
  graph_type m_graph;
  array<Weight> m_weight, m_distance;
  array<std::uint32_t> m_parent;
  std::unique_ptr<delta_stepping<Offset>> m_baseline;
};

template <class Offset, class Weight>
void measure_sssp(sssp_run& run, opened_graph& graph, bool keeps_source, reporter const& report) {
  sssp_measurement<Offset, Weight>(run, report)(graph, keeps_source);
}

}  // namespace karpos::perf
