// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>
#include <cstdint>
#include <karpos/sssp_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "perf/driver/bfs/opened_graph.hpp"
#include "perf/support/statistics.hpp"

namespace karpos::perf {

/// What `karpos sssp` may vary.
struct sssp_parameters {
  std::string graph;            ///< a file, or a generator
  std::string format = "auto";  ///< of the file
  bool directed = false;        ///< edges of a file lead one way
  bool relabel = false;         ///< ids of a file, numbers or words, are numbered without gaps
  std::optional<std::string> source;
  std::uint64_t sources = 0, seed = 1;  ///< how many random ones
  bool random_weights = false;          ///< also if the file has weights
  std::uint32_t max_weight = 255;       ///< random weights are 1 … this, the same both ways
  bool max_weight_is_given = false;
  int repetitions = 3;
  bool parents = false, baseline = false;
  bool sort_rows = false;            ///< rows in order of weight, once
  std::uint32_t baseline_delta = 0;  ///< 0: that of sssp
  std::string output;
  sssp_options options;
};

/// From one source.
struct sssp_result {
  std::uint64_t source = 0;
  samples time, bfs_time, baseline_time;
  sssp_report report;
  std::uint64_t reached = 0, reached_edges = 0;
  double farthest = 0;
  std::uint64_t wrong = 0;  ///< edges and vertices that prove distances or parents wrong
};

/// Which weights the edges have.
struct sssp_weights {
  bool of_file = false;     ///< else random ones
  bool is_integral = true;  ///< they fit into 32 bits
  double least = 0, most = 0;
};

struct sssp_run {
  sssp_parameters parameters;
  std::string graph;   ///< the file, or the generator with all that was left to it
  vertex_names names;  ///< of the file; none: vertices have the file's ids
  list_layout layout;  ///< of a list of edges
  sssp_weights weights;
  bool measured_doubles = false;  ///< the type of weights and distances; else integers of 32 bits
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

/// Whether this build has the baseline, which is for CPUs.
bool has_sssp_baseline();

/// Loads the graph and its weights, or draws them, and measures shortest paths and a breadth-first
/// search from the same sources. Distances are proved: no edge shortens one, and a path of such
/// length leads to each. `report(part, what)` is told the progress.
/// Throws: whatever makes the input unusable.
sssp_run run_sssp(sssp_parameters const& p, load_progress const& report);

/// The part of it that depends on the types: offsets of 32 and 64 bits with weights of 32 bits,
/// offsets of 64 bits with weights that are doubles. Frees the source of the graph, unless it is to
/// be kept for another try.
template <class Offset, class Weight>
void measure_sssp(sssp_run& run, opened_graph& graph, bool keeps_source, Kokkos::Timer const& clock,
                  load_progress const& report);

extern template void measure_sssp<std::uint32_t, std::uint32_t>(sssp_run&, opened_graph&, bool,
                                                                Kokkos::Timer const&,
                                                                load_progress const&);
extern template void measure_sssp<std::uint64_t, std::uint32_t>(sssp_run&, opened_graph&, bool,
                                                                Kokkos::Timer const&,
                                                                load_progress const&);
extern template void measure_sssp<std::uint64_t, double>(sssp_run&, opened_graph&, bool,
                                                         Kokkos::Timer const&,
                                                         load_progress const&);

}  // namespace karpos::perf
