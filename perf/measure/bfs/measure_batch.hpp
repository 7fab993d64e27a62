// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/bfs.hpp>
#include <karpos/bfs_batch.hpp>
#include <string>
#include <vector>

#include "perf/measure/bfs/measure.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

// `karpos bfs --batch`: a search from the same sources concurrently, compared with searches one
// after another.

namespace karpos::perf {

template <class Table>
struct count_batch_differences {
  Table batch;
  array<std::int32_t> single;
  std::uint64_t source;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& count) const {
    count += batch(source, v) != static_cast<typename Table::value_type>(single(v));
  }
};

/// Searches concurrently from all sources of a run, and compares every distance with that of a
/// single search.
template <class Graph, class Value>
class batch_measurement {
 public:
  using table = Kokkos::View<Value**, Kokkos::LayoutLeft, memory>;

  batch_measurement(space const& exec, Graph const& graph, bfs_run& run)
      : m_exec(exec),
        m_run(run),
        m_sources(make_array<std::uint32_t>("sources", run.searches.size())),
        m_distances(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "distances of a batch"),
                    run.searches.size(), graph.vertices()) {
    auto const host = Kokkos::create_mirror_view(m_sources);
    for (std::size_t i = 0; i < run.searches.size(); ++i)
      host(i) = static_cast<std::uint32_t>(run.searches[i].source);
    Kokkos::deep_copy(m_exec, m_sources, host);
    m_exec.fence("karpos::perf: sources of a batch");
  }

  /// Measures the batch. search(source) writes the distances of a single search to `single`.
  template <class Search>
  void operator()(Graph const& graph, array<std::int32_t> const& single, Search const& search) {
    Kokkos::Timer clock;
    bfs_batch_workspace<space, Graph> const workspace(m_exec, graph);
    m_exec.fence("karpos::perf: workspace of a batch");
    bfs_batch_result result;
    result.prepare_seconds = clock.seconds();
    result.workspace_bytes = workspace.bytes_for(m_exec, graph);
    result.distance_bits = 8 * sizeof(Value);
    bfs_batch_options options;
    options.driver = m_run.parameters.options.driver;
    timer<space> t(m_exec);
    result.time = t.repeat(
        m_run.parameters.repetitions, [] {},
        [&] { result.report = bfs_batch(m_exec, workspace, m_sources, m_distances, options); });
    m_run.batch = result;
    for (std::size_t i = 0; i < m_run.searches.size(); ++i) {
      search(m_run.searches[i].source);
      compare(i, single);
    }
  }

 private:
  void compare(std::size_t i, array<std::int32_t> const& single) {
    std::uint64_t count = 0;
    Kokkos::parallel_reduce("karpos::perf::batch_differences", range(m_exec, single.extent(0)),
                            count_batch_differences<table>{m_distances, single, i}, count);
    bfs_result& r = m_run.searches[i];
    bfs_source_report const& s = m_run.batch->report.source[i];
    if (count > 0)
      r.defect = grouped(count) + " distances of the batch are not those of a single search";
    else if (s.visited != r.reach.vertices || s.levels != r.reach.depth + 1 ||
             s.sum_distances != r.reach.sum_distance)
      r.defect = "the report of the batch is not that of its distances";
  }

  space m_exec;
  bfs_run& m_run;
  array<std::uint32_t> m_sources;
  table m_distances;
};

}  // namespace karpos::perf
