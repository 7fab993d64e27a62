// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bfs/measurement.hpp"

namespace karpos::perf {

template <class Offset>
bfs_run measure_bfs(bfs_parameters const& p, opened_graph graph, Kokkos::Timer const& clock,
                    load_progress const& report) {
  return bfs_measurement<Offset>(p, report)(std::move(graph), clock);
}

template bfs_run measure_bfs<std::uint64_t>(bfs_parameters const&, opened_graph,
                                            Kokkos::Timer const&, load_progress const&);

}  // namespace karpos::perf
