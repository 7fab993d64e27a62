// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "perf/measure/bench/measured.hpp"
#include "perf/measure/bfs/measure.hpp"
#include "perf/measure/bfs/summary.hpp"

// Searches of generated graphs with about n vertices, in each direction, and the driver's baseline
// in the same run. Every distance is checked. Names: search/way/graph. The time is the mean over
// the sources.

namespace karpos::perf {
namespace {

bfs_run run_measurement(std::string const& graph, bfs_direction direction) {
  bfs_parameters p;
  p.graph = graph;
  p.sources = 8;
  p.validate = true;
  p.baseline = true;
  p.options.direction = direction;
  return run_bfs(p, generated_graph(graph), [](double, std::string const&) {});
}

void measure(benchmark::State& state, bfs_run const& run, samples bfs_result::*time) {
  double seconds = 0;
  for (bfs_result const& r : run.searches) seconds += (r.*time).median();
  state.SetIterationTime(seconds / static_cast<double>(run.searches.size()));
  state.counters["GTEPS"] = harmonic_mean_gteps(run, time);
}

void add(std::string const& way, std::string const& graph, bfs_direction direction,
         samples bfs_result::*time) {
  add_measured<bfs_run>(
      "search/" + way + "/" + graph, graph + name_of(direction),
      [=] { return run_measurement(graph, direction); },
      [=](benchmark::State& state, bfs_run const& run) { measure(state, run, time); });
}

}  // namespace

void register_benchmarks(bench_sizes const& sizes) {
  for (std::uint64_t const n : sizes.keys) {
    std::string const scale = std::to_string(std::bit_width(n) - 1);
    std::string const side = std::to_string(std::llround(std::sqrt(n)));
    for (std::string const& graph :
         {"kron:scale=" + scale + ",ef=16", "uniform:scale=" + scale + ",ef=16",
          "grid:" + side + "x" + side + ",drop=0.3"}) {
      for (auto const direction :
           {bfs_direction::automatic, bfs_direction::top_down, bfs_direction::beamer})
        add(std::string("karpos::bfs ") + name_of(direction), graph, direction, &bfs_result::time);
      add("baseline", graph, bfs_direction::beamer, &bfs_result::baseline_time);
    }
  }
}

void finish_benchmarks() { last_run<bfs_run>().reset(); }

}  // namespace karpos::perf
