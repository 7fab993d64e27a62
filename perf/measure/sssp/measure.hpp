// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/sssp_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "perf/measure/graph/opened_graph.hpp"
#include "perf/measure/support/statistics.hpp"

namespace karpos::perf {

/// Parameters of `karpos sssp`.
struct sssp_parameters {
  std::string graph;            ///< a file, or a generator
  std::string format = "auto";  ///< of the file
  bool directed = false;        ///< edges of a file have one direction
  bool relabel = false;         ///< number the ids of a file, numbers or words, without gaps
  std::optional<std::string> source;
  std::uint64_t sources = 0, seed = 1;  ///< number of random sources, and their seed
  bool random_weights = false;          ///< even if the file has weights
  /// Random weights are 1 … max_weight, equal in both directions.
  std::uint32_t max_weight = 255;
  bool max_weight_is_given = false;
  int repetitions = 3;
  bool parents = false, baseline = false;
  bool sort_rows = false;            ///< sort rows by weight once
  std::uint32_t baseline_delta = 0;  ///< 0: the delta of sssp
  std::string output;
  sssp_options options;
};

/// The searches from one source.
struct sssp_result {
  std::uint64_t source = 0;
  samples time, bfs_time, baseline_time;
  sssp_report report;
  std::uint64_t reached = 0, reached_edges = 0;
  double farthest = 0;
  std::uint64_t wrong = 0;  ///< edges and vertices that prove distances or parents wrong
};

/// The weights of the edges.
struct sssp_weights {
  bool of_file = false;     ///< if false, they are random
  bool is_integral = true;  ///< they fit into 32 bits
  double least = 0, most = 0;
};

struct sssp_run {
  sssp_parameters parameters;
  std::string graph;   ///< the file, or the generator with all its settings
  vertex_names names;  ///< empty: vertices have the ids of the file
  list_layout layout;  ///< set for an edge list
  sssp_weights weights;
  bool measured_doubles = false;  ///< type of weights and distances; if false, 32-bit integers
  std::uint64_t vertices = 0, edges = 0;
  bool undirected = false;
  std::size_t workspace_bytes = 0;
  double load_seconds = 0, prepare_seconds = 0, automatic_delta = 0;
  std::vector<sssp_result> results;

  std::uint64_t wrong() const {
    std::uint64_t sum = 0;
    for (sssp_result const& r : results) sum += r.wrong;
    return sum;
  }
};

/// Returns whether this build has the baseline, which runs on CPUs only.
bool has_sssp_baseline();

/// Builds the graph with its weights, or draws the weights, and measures shortest paths and a
/// breadth-first search from the same sources. Proves the distances: no edge shortens a distance,
/// and each distance is the length of a path. Calls `report(part, what)` as the work progresses.
/// Throws an error that makes the input unusable.
sssp_run run_sssp(sssp_parameters const& p, opened_graph graph, reporter const& report);

/// Does the part of run_sssp that depends on the types: offsets of 32 and 64 bits with 32-bit
/// weights, offsets of 64 bits with double weights. Frees the source of the graph unless
/// `keeps_source` is set, for another attempt.
template <class Offset, class Weight>
void measure_sssp(sssp_run& run, opened_graph& graph, bool keeps_source, reporter const& report);

extern template void measure_sssp<std::uint32_t, std::uint32_t>(sssp_run&, opened_graph&, bool,
                                                                reporter const&);
extern template void measure_sssp<std::uint64_t, std::uint32_t>(sssp_run&, opened_graph&, bool,
                                                                reporter const&);
extern template void measure_sssp<std::uint64_t, double>(sssp_run&, opened_graph&, bool,
                                                         reporter const&);

/// Returns the run and its context in the format of perf/results/README.md.
json to_json(sssp_run const& run);
void print(sssp_run const& run);

}  // namespace karpos::perf
