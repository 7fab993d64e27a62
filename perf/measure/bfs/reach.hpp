// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/support/space.hpp"

// Sums over the distances of a search, computed in the driver's execution space.

namespace karpos::perf {

template <class Graph>
struct count_reached {
  using value_type = bfs_reach;
  typename Graph::offsets_view offsets;
  array<std::int32_t> distance;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, bfs_reach& r) const {
    std::int32_t const d = distance(v);
    if (d < 0) return;
    ++r.vertices;
    r.edges += static_cast<std::uint64_t>(offsets(v + 1) - offsets(v));
    r.sum_distance += static_cast<std::uint64_t>(d);
    if (d > r.depth) r.depth = d;
  }
  KOKKOS_FUNCTION void init(bfs_reach& r) const {
    r.vertices = r.edges = r.sum_distance = 0;
    r.depth = -1;
  }
  KOKKOS_FUNCTION void join(bfs_reach& to, bfs_reach const& from) const {
    to.vertices += from.vertices;
    to.edges += from.edges;
    to.sum_distance += from.sum_distance;
    if (from.depth > to.depth) to.depth = from.depth;
  }
};

template <class Graph>
bfs_reach reach_of(space const& exec, Graph const& graph, array<std::int32_t> const& distance) {
  bfs_reach reach;
  Kokkos::parallel_reduce("karpos::perf::reach", range(exec, graph.vertices()),
                          count_reached<Graph>{graph.row_offsets(), distance}, reach);
  exec.fence("karpos::perf: reach");
  return reach;
}

struct count_differences {
  array<std::int32_t> a, b;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& count) const {
    count += a(v) != b(v);
  }
};

inline std::uint64_t differences(space const& exec, array<std::int32_t> const& a,
                                 array<std::int32_t> const& b) {
  std::uint64_t count = 0;
  Kokkos::parallel_reduce("karpos::perf::differences", range(exec, a.extent(0)),
                          count_differences{a, b}, count);
  exec.fence("karpos::perf: differences");
  return count;
}

}  // namespace karpos::perf
