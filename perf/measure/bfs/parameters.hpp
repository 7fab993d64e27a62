// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/bfs.hpp>
#include <karpos/bfs_batch_options.hpp>
#include <karpos/csr_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "perf/measure/bfs/presets.hpp"
#include "perf/measure/graph/degrees.hpp"
#include "perf/measure/graph/edge_list.hpp"
#include "perf/measure/graph/vertex_names.hpp"
#include "perf/measure/support/energy.hpp"
#include "perf/measure/support/kernel_clock.hpp"
#include "perf/measure/support/statistics.hpp"

namespace karpos::perf {

/// Parameters of `karpos bfs`.
struct bfs_parameters {
  std::string graph;             ///< a file, or a generator
  std::string format = "auto";   ///< of the file
  bool directed = false;         ///< edges of a file have one direction
  bool keep_duplicates = false;  ///< and self loops
  bool permute = false;          ///< over ranks: renumber vertices at random
  bool relabel = false;          ///< number the ids of a file, numbers or words, without gaps
  /// Empty with sources = 0: the first vertex that has an edge.
  std::optional<std::string> source;
  std::uint64_t sources = 0;  ///< number of random sources
  std::uint64_t seed = 1;     ///< of the random sources
  bool batch = false;         ///< also search from all sources concurrently
  int repetitions = 3;
  int pad_rows = 0;     ///< hops whose rows are copied; 0: none
  int offset_bits = 0;  ///< 32 or 64; 0: the narrower one that suffices
  bool parents = false, validate = false, baseline = false, energy = false;
  bool degrees = false;       ///< also count the degrees of all vertices
  double energy_seconds = 2;  ///< that searches are repeated for to measure energy
  bool timeline = false;  ///< also time each kernel of a search by its options, and by each preset
  std::string output;
  bfs_options options;
  std::vector<bfs_preset> presets;  ///< measured in addition

  csr_options clean() const {
    return {.remove_self_loops = !keep_duplicates, .remove_duplicates = !keep_duplicates};
  }
};

/// The part of the graph that a source reaches, according to the distances.
struct bfs_reach {
  std::uint64_t vertices = 0;
  /// Outgoing edges of the reached vertices, whether or not the search examined them.
  std::uint64_t edges = 0;
  std::uint64_t sum_distance = 0;
  std::int32_t depth = -1;  ///< the largest distance
};

/// The searches from one source.
struct bfs_result {
  std::uint64_t source = 0;
  samples time, baseline_time;
  std::vector<samples> preset_time;  ///< by preset
  /// By preset. Of a status array only first_bottom_up is known.
  std::vector<bfs_report> preset_report;
  bfs_reach reach;
  bfs_report report;
  std::string defect;  ///< description of an error in the answer, or empty

  bool isolated() const { return reach.edges == 0; }

  /// Returns 10^9 edges of the component per second, whether or not the search examined them, as
  /// Graph500 counts. (GAP divides all edges of the graph by the mean time.)
  double gteps(samples const& t) const {
    double const seconds = t.median();
    return seconds > 0 ? static_cast<double>(reach.edges) / seconds * 1e-9 : 0;
  }
};

/// The concurrent searches from all sources.
struct bfs_batch_result {
  samples time;
  double prepare_seconds = 0;
  std::size_t workspace_bytes = 0;
  std::size_t distance_bits = 0;
  bfs_batch_report report;
};

/// The kernels of one search, each level by itself.
struct bfs_timeline {
  struct step : timed_kernel {
    std::int32_t level;  ///< that the kernel expands, or whose queue it makes
  };
  std::string preset;  ///< empty: the search by the options
  double seconds = 0;  ///< of the whole search, with the time between its kernels
  std::vector<step> steps;
};

struct bfs_run {
  bfs_parameters parameters;
  std::string graph;  ///< the file, or the generator with all its settings
  std::uint64_t vertices = 0, edges = 0;
  bool undirected = false;
  std::uint64_t first_with_edges = 0;  ///< a vertex; `vertices` if no vertex has an edge
  int offset_bits = 0;
  std::size_t workspace_bytes = 0;
  double load_seconds = 0, prepare_seconds = 0;
  vertex_names names;               ///< empty: vertices have the ids of the file
  list_layout layout;               ///< set for an edge list
  std::uint64_t without_edges = 0;  ///< vertices without outgoing edges
  std::vector<bfs_result> searches;
  std::optional<bfs_batch_result> batch;
  std::optional<energy_use> energy;       ///< one round is a search from each source
  std::vector<energy_use> preset_energy;  ///< by preset, if energy is measured
  std::optional<degree_distribution> degrees;
  std::vector<bfs_timeline> timelines;  ///< of the first source

  std::size_t wrong() const {
    std::size_t count = 0;
    for (bfs_result const& r : searches) count += !r.defect.empty();
    return count;
  }
};

}  // namespace karpos::perf
