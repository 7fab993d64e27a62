// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <string>

#include "perf/measure/bench/measured.hpp"
#include "perf/measure/components/measure.hpp"
#include "perf/measure/sssp/measure.hpp"

// Shortest paths and connected components of generated graphs with about n vertices, with their
// peers in the same run. Every answer is checked. Names: paths/way/graph, components/way/graph. The
// time of paths is the mean over the sources.

namespace karpos::perf {
namespace {

void nothing(double, std::string const&) {}

sssp_run measure_paths(std::string const& graph) {
  sssp_parameters p;
  p.graph = graph;
  p.sources = 4;
  p.baseline = has_sssp_baseline();
  return run_sssp(p, generated_graph(graph), nothing);
}
components_run measure_components(std::string const& graph) {
  components_parameters p;
  p.graph = graph;
  p.baseline = true;
  return run_components(p, generated_graph(graph), nothing);
}

void add_paths(std::string const& way, std::string const& graph, samples sssp_result::*time) {
  add_measured<sssp_run>(
      "paths/" + way + "/" + graph, graph, [=] { return measure_paths(graph); },
      [=](benchmark::State& state, sssp_run const& run) {
        double seconds = 0;
        for (sssp_result const& r : run.results) seconds += (r.*time).median();
        state.SetIterationTime(seconds / static_cast<double>(run.results.size()));
      });
}
/// Registers a benchmark of connected components. `peer` is the number of a peer in the run, or -1
/// for karpos.
void add_components(std::string const& way, std::string const& graph, int peer) {
  add_measured<components_run>(
      "components/" + way + "/" + graph, graph, [=] { return measure_components(graph); },
      [=](benchmark::State& state, components_run const& run) {
        auto const& time = peer < 0 ? run.time : run.peers[static_cast<std::size_t>(peer)].time;
        state.SetIterationTime(time.median());
      });
}

}  // namespace

void register_benchmarks(bench_sizes const& sizes) {
  for (std::uint64_t const n : sizes.keys) {
    std::string const scale = std::to_string(std::bit_width(n) - 1);
    std::string const side = std::to_string(std::llround(std::sqrt(n)));
    for (std::string const& graph :
         {"kron:scale=" + scale + ",ef=16", "uniform:scale=" + scale + ",ef=16",
          "grid:" + side + "x" + side + ",drop=0.3"}) {
      add_paths("karpos::sssp", graph, &sssp_result::time);
      add_paths("karpos::bfs", graph, &sssp_result::bfs_time);
      if (has_sssp_baseline()) add_paths("delta-stepping", graph, &sssp_result::baseline_time);
      add_components("karpos::connected_components", graph, -1);
      add_components("plain afforest", graph, 0);
      add_components("label propagation", graph, 1);
    }
  }
}

void finish_benchmarks() {
  last_run<sssp_run>().reset();
  last_run<components_run>().reset();
}

}  // namespace karpos::perf
