// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/components/measure.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/bfs/graph_options.hpp"
#include "perf/tool/bfs/open_graph.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/checked_options.hpp"

namespace karpos::perf {
namespace {

int report_wrong(components_run const& run) {
  if (run.wrong() == 0) return 0;
  if (run.wrong_component_ids > 0 || run.wrong_count)
    std::fprintf(stderr, "karpos: %s of %s component ids are wrong%s: please report this\n",
                 grouped(run.wrong_component_ids).c_str(), grouped(run.vertices).c_str(),
                 run.wrong_count ? ", and the number of components" : "");
  for (components_peer const& peer : run.peers)
    if (peer.wrong > 0)
      std::fprintf(stderr, "karpos: %s component ids of %s are wrong: please report this\n",
                   grouped(peer.wrong).c_str(), peer.name.c_str());
  return 1;
}

int components(components_parameters const& p, bool as_json) {
  require_output(p.output,
                 is_generator(p.graph) ? std::vector<std::string>() : std::vector{p.graph},
                 "the graph");
  components_run const run = with_progress("karpos components", [&](reporter const& report) {
    return run_components(p, open_graph_of(p, report), report);
  });
  print_report(as_json, run);
  return report_wrong(run);
}

action define_components(CLI::App& app) {
  struct arguments {
    components_parameters parameters;
    bool as_json = false;
  };
  auto const o = std::make_shared<arguments>();
  components_parameters& p = o->parameters;
  app.add_option("graph", p.graph, "a file or a generator, as of karpos bfs")->required();
  add_format_option(app, p.format);
  app.add_flag("--directed", p.directed,
               "edges of a file lead one way: weakly connected components");
  app.add_flag("--relabel", p.relabel,
               "number the ids of a file without gaps, or its words, as karpos bfs does");
  app.add_option("--sampled", p.sampled,
                 "neighbours of each vertex that are linked before the largest component is "
                 "sampled")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(0, 1000));
  app.add_flag("--baseline", p.baseline,
               "compare with label propagation and a plain Afforest in the same run");
  app.add_option("--output", p.output,
                 "write the component id of each vertex, a line each; with --relabel after its "
                 "name")
      ->type_name("FILE");
  add_repetitions(app, p.repetitions);
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "A component's id is its smallest vertex. All ids are compared with disjoint sets on the\n"
      "host.\n"
      "Example: karpos components kron:scale=16 --baseline");
  return [o] { return components(o->parameters, o->as_json); };
}

command const components_command("components", "Find the connected components of a graph.",
                                 define_components);

}  // namespace
}  // namespace karpos::perf
