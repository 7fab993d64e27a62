// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/components/measure.hpp"
#include "perf/measure/graph/opened_graph.hpp"
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

json to_json(components_run const& run) {
  components_parameters const& p = run.parameters;
  json peers = json::array();
  for (components_peer const& peer : run.peers)
    peers.push_back({{"name", peer.name},
                     {"seconds", peer.time.median()},
                     {"all_seconds", peer.time.seconds},
                     {"over_karpos", peer.time.median() / run.time.median()},
                     {"wrong", peer.wrong}});
  json j = {{"format", "karpos-components-1"},
            {"context", context()},
            {"parameters",
             {{"graph", run.graph},
              {"format", p.format},
              {"directed", p.directed},
              {"relabel", p.relabel},
              {"sampled", p.sampled},
              {"repetitions", p.repetitions},
              {"timing", timer<space>::method()}}},
            {"vertices", run.vertices},
            {"edges", run.edges},
            {"undirected", run.undirected},
            {"load_seconds", run.load_seconds},
            {"workspace_bytes", run.workspace_bytes},
            {"components", run.components},
            {"isolated", run.isolated},
            {"largest", run.largest},
            {"largest_label", vertex_json(run.names, run.largest_id)},
            {"seconds", run.time.median()},
            {"all_seconds", run.time.seconds},
            {"peers", peers},
            {"wrong", run.wrong()}};
  j.update(to_json(run.layout));
  return j;
}

void print(components_run const& run) {
  std::printf("%s: %s, %s%s\n", run.graph.c_str(),
              counted(run.vertices, "vertex", "vertices").c_str(),
              counted(run.edges, "directed edge", "directed edges").c_str(),
              run.undirected ? " (every edge both ways)" : "");
  print_layout(run.layout, false);
  if (run.parameters.relabel) print_relabelling(run.names);
  if (run.lacks_vertex_0)
    std::printf(
        "ids count from 0: vertex 0, which the file does not name, is a component (--relabel "
        "leaves it out)\n");
  std::printf("%s\n", run_description(run.parameters.repetitions).c_str());
  std::printf("loaded in %s; workspace of %s\n\n", human_seconds(run.load_seconds).c_str(),
              human_bytes(static_cast<double>(run.workspace_bytes)).c_str());
  std::printf("%s, %s alone\n", counted(run.components, "component", "components").c_str(),
              counted(run.isolated, "vertex is", "vertices are").c_str());
  std::printf("largest: %s, of vertex %s on\n", counted(run.largest, "vertex", "vertices").c_str(),
              shown(run.names, run.largest_id).c_str());
  std::printf("\n%s %s\n", left("karpos", 20).c_str(),
              right(human_seconds(run.time.median()), 10).c_str());
  for (components_peer const& peer : run.peers)
    std::printf("%s %s   karpos is %sx as fast\n", left(peer.name, 20).c_str(),
                right(human_seconds(peer.time.median()), 10).c_str(),
                three_digits(peer.time.median() / run.time.median()).c_str());
  if (run.wrong() == 0)
    std::printf("valid: every component id is that of disjoint sets on the host\n");
}

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
  components_run run;
  {
    progress bar("karpos components");
    run = run_components(p, [&](double part, std::string const& what) { bar.show(part, what); });
  }
  if (as_json)
    print_json(to_json(run));
  else
    print(run);
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
                 "name");
  app.add_option("--reps", p.repetitions, "readings of the clock; their median counts")
      ->capture_default_str()
      ->transform(count_validator())
      ->check(CLI::Range(1, 1000));
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
