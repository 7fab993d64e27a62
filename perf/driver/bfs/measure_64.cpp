// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/bfs/measurement.hpp"

namespace karpos::perf {

template <class Offset>
bfs_run measure_bfs(bfs_parameters const& p, graph_source source, vertex_names names,
                    Kokkos::Timer const& clock, load_progress const& report) {
  return bfs_measurement<Offset>(p, std::move(names), report)(std::move(source), clock);
}

template bfs_run measure_bfs<std::uint64_t>(bfs_parameters const&, graph_source, vertex_names,
                                            Kokkos::Timer const&, load_progress const&);

}  // namespace karpos::perf
