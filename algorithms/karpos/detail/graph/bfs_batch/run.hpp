// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/bfs_batch_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/graph/bfs_batch/batch.hpp"
#include "karpos/detail/graph/frontier/sources.hpp"
#include "karpos/detail/index_range.hpp"

// The host driver of a batch of searches: checks its arguments, then runs passes of 64 searches.

namespace karpos::detail::bfs_batch {

template <class View>
void check_distances(View const& distances, std::uint64_t sources, std::uint64_t vertices) {
  using value = typename View::value_type;
  static_assert(std::is_same_v<value, std::int32_t> || std::is_same_v<value, std::uint8_t>,
                "karpos: distances of a batch come in a view of std::int32_t or std::uint8_t");
  static_assert(View::rank() == 2, "karpos: distances of a batch are (source, vertex)");
  require_same_extent("rows of distances", distances.extent(0), "sources", sources);
  require_same_extent("columns of distances", distances.extent(1), "vertices", vertices);
}

template <class Sources>
void check_sources(auto const& exec, Sources const& sources, std::uint64_t vertices) {
  auto const count =
      sources_out_of_range("karpos::bfs_batch::check_sources", exec, sources, vertices);
  if (count > 0)
    reject(std::to_string(count) + " sources of a batch of searches are no vertices",
           "the graph has " + std::to_string(vertices), "pass vertices below that");
}

/// Runs passes of 64 searches. make(first, searches) returns where the distances of a pass go.
template <class ExecSpace, class Graph, class Sources, class Make>
bfs_batch_report run_passes(ExecSpace const& exec,
                            bfs_batch_workspace<ExecSpace, Graph> const& workspace,
                            Sources const& sources, bfs_batch_options const& options,
                            std::int32_t max_distance, std::uint64_t vertices, Make const& make) {
  Kokkos::Profiling::ScopedRegion const region("karpos::bfs_batch");
  require_reachable<ExecSpace, Sources>();
  if (max_distance < 0)
    reject("max_distance of a batch of searches is negative", std::to_string(max_distance),
           "pass 0 or more");
  check_sources(exec, sources, vertices);
  batch<ExecSpace, Graph> const b(exec, workspace, options, max_distance);
  bfs_batch_report report;
  report.source.reserve(sources.extent(0));
  for (std::uint64_t first = 0; first < sources.extent(0); first += searches_at_once) {
    int const searches =
        static_cast<int>(std::min(sources.extent(0) - first, std::uint64_t(searches_at_once)));
    b.run(sources, first, searches, make(first, searches), report);
  }
  return report;
}

}  // namespace karpos::detail::bfs_batch
