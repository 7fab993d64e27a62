// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/sssp/measure.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/bfs/graph_options.hpp"
#include "perf/tool/bfs/open_graph.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/checked_options.hpp"
#include "perf/tool/program/help_text.hpp"

namespace karpos::perf {
namespace {

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
  sssp_run const run = with_progress("karpos sssp", [&](reporter const& report) {
    return run_sssp(p, open_graph_of(p, report, !p.random_weights), report);
  });
  print_report(o.as_json, run);
  return report_wrong(run);
}

void add_sources(CLI::App& app, sssp_arguments& o) {
  sssp_parameters& p = o.parameters;
  o.with_source = app.add_option("--source", o.source,
                                 "vertex to start from, counted from 0; with --relabel its name")
                      ->type_name("VERTEX");
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
  put_in_group(app, "Graph");
  add_sources(app, *o);
  put_in_group(app, "Sources");
  app.add_flag("--random-weights", p.random_weights, "draw weights also if the file has them");
  o->max_weight = app.add_option("--max-weight", p.max_weight, "random weights are 1 to this")
                      ->capture_default_str()
                      ->transform(count_validator())
                      ->check(CLI::Range(1, 1 << 24));
  put_in_group(app, "Weights");
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
  put_in_group(app, "How to search");
  app.add_flag("--parents", p.parents, "find parents, too");
  app.add_option("--output", p.output,
                 "write the distance (and parent) of each vertex, a line each")
      ->type_name("FILE");
  put_in_group(app, "Results");
  auto* const baseline = app.add_flag("--baseline", p.baseline,
                                      "compare with a plain delta-stepping in the same run (CPUs)");
  app.add_option("--baseline-delta", p.baseline_delta, "of that; 0: that of karpos")
      ->needs(baseline)
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(0u, 1u << 31));
  add_repetitions(app, p.repetitions);
  put_in_group(app, "Measurements");
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
