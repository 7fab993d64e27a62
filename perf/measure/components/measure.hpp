// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/measure/graph/opened_graph.hpp"
#include "perf/measure/support/statistics.hpp"

namespace karpos::perf {

/// Parameters of `karpos components`.
struct components_parameters {
  std::string graph;            ///< a file, or a generator
  std::string format = "auto";  ///< of the file
  bool directed = false;        ///< edges of a file have one direction
  bool relabel = false;         ///< number the ids of a file, numbers or words, without gaps
  std::uint32_t sampled = 2;
  int repetitions = 5;
  bool baseline = false;
  std::string output;
};

/// Another algorithm with the same result.
struct components_peer {
  std::string name;
  samples time;
  std::uint64_t wrong = 0;  ///< component ids
};

struct components_run {
  components_parameters parameters;
  std::string graph;            ///< the file, or the generator with all its settings
  vertex_names names;           ///< empty: vertices have the ids of the file
  list_layout layout;           ///< set for an edge list
  bool lacks_vertex_0 = false;  ///< ids count from 0, but no edge has vertex 0
  std::uint64_t vertices = 0, edges = 0;
  bool undirected = false;
  std::uint64_t components = 0, isolated = 0, largest = 0;  ///< largest: its number of vertices
  std::uint64_t largest_id = 0;
  std::size_t workspace_bytes = 0;
  double load_seconds = 0;
  samples time;
  std::uint64_t wrong_component_ids = 0;
  bool wrong_count = false;
  std::vector<components_peer> peers;

  std::uint64_t wrong() const {
    std::uint64_t sum = wrong_component_ids + (wrong_count ? 1 : 0);
    for (components_peer const& p : peers) sum += p.wrong;
    return sum;
  }
};

/// Builds the graph, computes its components, and compares every component id with disjoint sets on
/// the host. Calls `report(part, what)` as the work progresses. Throws an error that makes the
/// input unusable.
components_run run_components(components_parameters const& p, opened_graph graph,
                              reporter const& report);

/// Returns the run and its context in the format of perf/results/README.md.
json to_json(components_run const& run);
void print(components_run const& run);

}  // namespace karpos::perf
