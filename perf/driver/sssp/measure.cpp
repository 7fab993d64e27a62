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
  run.graph = p.graph;
  graph_source source =
      open_graph(p.graph, p.directed, [&](double part, auto& w) { report(0.5 * part, w); });
  if (auto const* const spec = std::get_if<generator_spec>(&source)) run.graph = to_string(*spec);
  bool const narrow = max_edges(source, p.directed) < std::uint64_t(1) << 31;
  bfs_parameters
      search;  // beside which there are weights, distances, queues and the baseline's edges and distances
  search.directed = p.directed;
  search.parents = p.parents;
  require_bfs_memory(source, search, narrow ? 32 : 64,
                     {p.baseline ? 28.0 : 20.0, p.baseline ? 12.0 : 4.0});
  if (narrow)
    measure_sssp<std::uint32_t>(run, std::move(source), clock, report);
  else
    measure_sssp<std::uint64_t>(run, std::move(source), clock, report);
  return run;
}

}  // namespace karpos::perf
