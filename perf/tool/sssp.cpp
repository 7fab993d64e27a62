// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/graph/opened_graph.hpp"
#include "perf/measure/sssp/measure.hpp"
#include "perf/measure/sssp/plain_text.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"
#include "perf/tool/bfs/graph_options.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/checked_options.hpp"

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

void print(sssp_run const& run) {
  std::printf("%s: %s, %s%s\n", run.graph.c_str(),
              counted(run.vertices, "vertex", "vertices").c_str(),
              counted(run.edges, "directed edge", "directed edges").c_str(),
              run.undirected ? " (every edge both ways)" : "");
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

int report_wrong(sssp_run const& run) {
  for (sssp_result const& r : run.results)
    if (r.wrong > 0)
      std::fprintf(stderr, "karpos: distances from vertex %s are wrong at %s: please report this\n",
                   shown(run.names, r.source).c_str(), counted(r.wrong, "place", "places").c_str());
  return run.wrong() > 0 ? 1 : 0;
}

struct sssp_arguments {
  sssp_parameters parameters;
  std::string source;
  CLI::Option *with_source = nullptr, *seed = nullptr, *max_weight = nullptr;
  bool launches = false, as_json = false;
};

int shortest_paths(sssp_arguments const& o) {
  sssp_parameters p = o.parameters;
  if (o.with_source->count() > 0) p.source = source_word(o.source, p.relabel);
  if (o.seed->count() > 0 && p.source)
    throw bad_input("--seed does not apply (no random source): leave --source out");
  p.max_weight_is_given = o.max_weight->count() > 0;
  if (o.launches) p.options.driver = launch_mode::kernel_per_step;
  if (p.sources > 1 && !p.output.empty())
    throw bad_input(
        "--output does not apply (--sources makes several results): choose --source in its place");
  if (p.baseline && !has_sssp_baseline())
    throw bad_input(
        "--baseline does not apply (it runs on CPUs, this build on a device): leave it out");
  require_output(p.output,
                 is_generator(p.graph) ? std::vector<std::string>() : std::vector{p.graph},
                 "the graph");
  sssp_run run;
  {
    progress bar("karpos sssp");
    run = run_sssp(p, [&](double part, std::string const& what) { bar.show(part, what); });
  }
  if (o.as_json)
    print_json(to_json(run));
  else
    print(run);
  return report_wrong(run);
}

void add_sources(CLI::App& app, sssp_arguments& o) {
  sssp_parameters& p = o.parameters;
  o.with_source = app.add_option("--source", o.source,
                                 "vertex to start from, counted from 0; with --relabel its name");
  app.add_option("--sources", p.sources,
                 "number of random sources, vertices with neighbours (default: one)")
      ->transform(count_validator())
      ->check(CLI::Range(1, 1 << 20))
      ->excludes(o.with_source);
  o.seed = app.add_option("--seed", p.seed, "of the random sources")
               ->transform(count_validator())
               ->capture_default_str();
}

action define_sssp(CLI::App& app) {
  auto const o = std::make_shared<sssp_arguments>();
  sssp_parameters& p = o->parameters;
  app.add_option("graph", p.graph, "a file or a generator, as of karpos bfs")->required();
  add_format_option(app, p.format);
  app.add_flag("--directed", p.directed, "edges of a file lead one way; else they count both ways");
  app.add_flag("--relabel", p.relabel,
               "number the ids of a file without gaps, or its words, as karpos bfs does");
  add_sources(app, *o);
  app.add_flag("--random-weights", p.random_weights, "draw weights also if the file has them");
  o->max_weight = app.add_option("--max-weight", p.max_weight, "random weights are 1 to this")
                      ->capture_default_str()
                      ->transform(count_validator())
                      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--delta", p.options.delta, "width of a bucket of distances; 0: automatic")
      ->capture_default_str()
      ->check(number_from(0));
  app.add_option("--reach", p.options.reach,
                 "distance beyond the hubs from which on vertices pull their distances from "
                 "neighbours; 0: automatic, 1e30: never")
      ->capture_default_str()
      ->check(number_from(0));
  app.add_flag("--sort-rows", p.sort_rows,
               "copy the rows in order of weight first, for many searches with a reach");
  app.add_option("--hops", p.options.fusion_hops,
                 "hops that a team fuses at most if few vertices are expanded (bucket fusion); "
                 "0: none")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(0, 1 << 20));
  app.add_flag("--launches", o->launches, "a kernel for each step, not one for all");
  app.add_flag("--parents", p.parents, "find parents, too");
  auto* const baseline = app.add_flag("--baseline", p.baseline,
                                      "compare with a plain delta-stepping in the same run (CPUs)");
  app.add_option("--baseline-delta", p.baseline_delta, "of that; 0: that of karpos")
      ->needs(baseline)
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(0u, 1u << 31));
  app.add_option("--output", p.output,
                 "write the distance (and parent) of each vertex, a line each");
  app.add_option("--reps", p.repetitions, "readings of the clock; their median counts")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(1, 1000));
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "Weights are those of the file: the values of MatrixMarket, the third column of a list of\n"
      "edges, the attribute 'weight' of networkx, those of DIMACS and METIS. If an edge has\n"
      "several, the smallest counts. Edges without weights get random ones, the same both ways.\n"
      "Distances are proved: no edge shortens one, and a path of that length leads to each.\n"
      "Example: karpos sssp grid:256x256 --max-weight 100");
  return [o] { return shortest_paths(*o); };
}

command const sssp_command("sssp", "Find shortest paths: distances by weights of edges.",
                           define_sssp);

}  // namespace
}  // namespace karpos::perf
