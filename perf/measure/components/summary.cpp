// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/components/measure.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

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
  print_graph(run.graph, run.vertices, run.edges, run.undirected);
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

}  // namespace karpos::perf
