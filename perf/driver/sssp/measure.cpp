// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/sssp/measure.hpp"

#include <utility>

#include "perf/driver/bfs/memory_needed.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

bool has_sssp_baseline() { return on_host; }

sssp_run run_sssp(sssp_parameters const& p, load_progress const& report) {
  Kokkos::Timer const clock;
  sssp_run run;
  run.parameters = p;
  opened_graph graph = open_named_graph(p.graph, p.directed, p.relabel, report);
  bool const narrow = fits_31_bits(graph.source, p.directed);
  bfs_parameters
      search;  // beside which there are weights, distances, queues and the baseline's edges and distances
  search.directed = p.directed;
  search.parents = p.parents;
  double const sorting =
      on_host ? 16 : 48;  // an edge: rows in order of weight, and while they are sorted
  require_bfs_memory(graph.source, search, narrow ? 32 : 64,
                     {(p.baseline ? 28.0 : 20.0) + (p.sort_rows ? 16.0 : 0.0),
                      (p.baseline ? 12.0 : 4.0) + (p.sort_rows ? sorting : 0.0)});
  if (narrow)
    measure_sssp<std::uint32_t>(run, std::move(graph), clock, report);
  else
    measure_sssp<std::uint64_t>(run, std::move(graph), clock, report);
  return run;
}

}  // namespace karpos::perf
