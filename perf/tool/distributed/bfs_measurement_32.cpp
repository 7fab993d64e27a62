// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/distributed/bfs_measurement.hpp"

namespace karpos::perf {

template searches_over_ranks measure_searches<std::uint32_t>(rank_communicator const&,
                                                             bfs_parameters const&,
                                                             graph_source const&, Kokkos::Timer&,
                                                             progress*);

}  // namespace karpos::perf
