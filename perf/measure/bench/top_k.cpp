// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "perf/measure/bench/measured.hpp"
#include "perf/measure/topk/measure.hpp"

// Ranked queries over four generated lists of n objects, k = 100, with full aggregation, NRA and
// LARA in the same run. Every answer is checked. Names: query/way/scores.

namespace karpos::perf {
namespace {

topk_run run_measurement(std::string const& scores, top_k_result result) {
  topk_parameters p;
  p.scores = scores;
  p.result = result;
  if (result == top_k_result::set) p.peers = topk_peer_names();
  return run_topk(p, generated_scores(p), [](double, std::string const&) {});
}

void measure(benchmark::State& state, topk_run const& run) {
  state.SetIterationTime(run.time.median());
  state.counters["read"] =
      static_cast<double>(run.report.entries) / static_cast<double>(run.entries);
}

void measure_peer(benchmark::State& state, topk_run const& run, std::string const& name) {
  for (topk_peer const& p : run.peers) {
    if (p.name != name) continue;
    if (!p.skipped.empty()) return state.SkipWithError(p.skipped.c_str());
    state.SetIterationTime(p.time.median());
    state.counters["over_karpos"] = p.time.median() / run.time.median();
  }
}

void add(std::string const& way, std::string const& scores, top_k_result result,
         std::function<void(benchmark::State&, topk_run const&)> const& show) {
  bool const set = result == top_k_result::set;
  add_measured<topk_run>(
      "query/" + way + "/" + scores, scores + (set ? " set" : " exact"),
      [=] { return run_measurement(scores, result); }, show);
}

}  // namespace

void register_benchmarks(bench_sizes const& sizes) {
  for (std::uint64_t const objects : sizes.keys)
    for (char const* const family : {"uniform", "correlated", "zipf", "anticorrelated"}) {
      std::string const scores = std::string(family) + ":m=" + std::to_string(objects) + ",n=4";
      add("karpos::top_k exact", scores, top_k_result::exact, measure);
      add("karpos::top_k set", scores, top_k_result::set, measure);
      for (std::string const& peer : topk_peer_names())
        add(peer, scores, top_k_result::set,
            [=](benchmark::State& state, topk_run const& run) { measure_peer(state, run, peer); });
    }
}

void finish_benchmarks() { last_run<topk_run>().reset(); }

}  // namespace karpos::perf
