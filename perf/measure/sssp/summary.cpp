// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/sssp/measure.hpp"
#include "perf/measure/sssp/plain_text.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {
namespace {

/// Returns the mean over the sources of the median times, in seconds.
double mean_of(sssp_run const& run, samples sssp_result::*time) {
  double sum = 0;
  for (sssp_result const& r : run.results) sum += (r.*time).median();
  return sum / static_cast<double>(run.results.size());
}

json number_json(double x) {
  return is_exact_integer(x) ? json(static_cast<std::int64_t>(x)) : json(x);
}

json to_json(sssp_run const& run, sssp_result const& r) {
  json j = {{"source", vertex_json(run.names, r.source)},
            {"reached", r.reached},
            {"reached_edges", r.reached_edges},
            {"farthest", number_json(r.farthest)},
            {"seconds", r.time.median()},
            {"all_seconds", r.time.seconds},
            {"bfs_seconds", r.bfs_time.median()},
            {"delta", r.report.delta},
            {"buckets", r.report.buckets},
            {"rounds", r.report.rounds},
            {"windows", r.report.fused_rounds},
            {"passes", r.report.passes},
            {"edges_looked_at", r.report.edges},
            {"wrong", r.wrong}};
  if (run.parameters.baseline) j["baseline_seconds"] = r.baseline_time.median();
  return j;
}

void print_time(char const* what, double seconds, double karpos) {
  std::printf("%s %s   %sx\n", left(what, 16).c_str(), right(human_seconds(seconds), 10).c_str(),
              three_digits(seconds / karpos).c_str());
}

/// Returns a number for a reader: an integer with its digits in groups.
std::string shown_number(double x) {
  return x >= 0 && is_exact_integer(x) ? grouped(static_cast<std::uint64_t>(x)) : plain_text(x);
}

void print_weights(sssp_run const& run) {
  sssp_parameters const& p = run.parameters;
  sssp_weights const& w = run.weights;
  std::string const range = shown_number(w.least) + " to " + shown_number(w.most);
  if (w.of_file)
    std::printf("weights of the file, %s%s (--random-weights draws others)\n", range.c_str(),
                run.measured_doubles ? ", as doubles" : "");
  else
    std::printf("random weights, %s%s\n", range.c_str(),
                is_generator(p.graph) || p.random_weights ? "" : ": the file has none");
}

}  // namespace

json to_json(sssp_run const& run) {
  sssp_parameters const& p = run.parameters;
  json results = json::array();
  for (sssp_result const& r : run.results) results.push_back(to_json(run, r));
  json j = {{"format", "karpos-sssp-1"},
            {"context", context()},
            {"parameters",
             {{"graph", run.graph},
              {"directed", p.directed},
              {"relabel", p.relabel},
              {"format", p.format},
              {"random_weights", p.random_weights},
              {"max_weight", p.max_weight},
              {"parents", p.parents},
              {"delta", p.options.delta},
              {"reach", p.options.reach},
              {"sort_rows", p.sort_rows},
              {"window_hops", p.options.fusion_hops},
              {"launches", p.options.driver == launch_mode::kernel_per_step},
              {"seed", p.seed},
              {"repetitions", p.repetitions},
              {"timing", timer<space>::method()}}},
            {"weights",
             {{"from", run.weights.of_file ? "file" : "random"},
              {"least", number_json(run.weights.least)},
              {"most", number_json(run.weights.most)},
              {"type", run.measured_doubles ? "double" : "uint32"}}},
            {"vertices", run.vertices},
            {"edges", run.edges},
            {"undirected", run.undirected},
            {"load_seconds", run.load_seconds},
            {"prepare_seconds", run.prepare_seconds},
            {"workspace_bytes", run.workspace_bytes},
            {"automatic_delta", run.automatic_delta},
            {"mean_seconds", mean_of(run, &sssp_result::time)},
            {"mean_bfs_seconds", mean_of(run, &sssp_result::bfs_time)}};
  if (p.baseline) j["mean_baseline_seconds"] = mean_of(run, &sssp_result::baseline_time);
  j.update(to_json(run.layout));
  j["results"] = results;
  j["wrong"] = run.wrong();
  return j;
}

void print(sssp_run const& run) {
  print_graph(run.graph, run.vertices, run.edges, run.undirected);
  print_layout(run.layout, run.weights.of_file);
  print_weights(run);
  if (run.parameters.relabel) print_relabelling(run.names);
  std::printf("%s\n", run_description(run.parameters.repetitions).c_str());
  std::printf("loaded in %s; workspace of %s made in %s\n\n",
              human_seconds(run.load_seconds).c_str(),
              human_bytes(static_cast<double>(run.workspace_bytes)).c_str(),
              human_seconds(run.prepare_seconds).c_str());
  sssp_result const& r = run.results.front();
  std::printf("source %s: reached %s, the farthest at %s\n", shown(run.names, r.source).c_str(),
              counted(r.reached, "vertex", "vertices").c_str(), shown_number(r.farthest).c_str());
  std::printf(
      "delta %s: %s, %s (%s of them fused), %s edges of expanded vertices for each edge of the "
      "graph\n\n",
      three_digits(r.report.delta).c_str(), counted(r.report.buckets, "bucket", "buckets").c_str(),
      counted(r.report.rounds, "round", "rounds").c_str(), grouped(r.report.fused_rounds).c_str(),
      three_digits(static_cast<double>(r.report.edges) /
                   static_cast<double>(std::max<std::uint64_t>(r.reached_edges, 1)))
          .c_str());
  double const mean = mean_of(run, &sssp_result::time);
  std::printf("mean over %s\n", counted(run.results.size(), "source", "sources").c_str());
  print_time("karpos", mean, mean);
  print_time("karpos bfs", mean_of(run, &sssp_result::bfs_time), mean);
  if (run.parameters.baseline)
    print_time("delta-stepping", mean_of(run, &sssp_result::baseline_time), mean);
  if (run.wrong() == 0) std::printf("valid: every distance is proved exact\n");
}

}  // namespace karpos::perf
