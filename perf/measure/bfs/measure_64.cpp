// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bfs/measurement.hpp"

namespace karpos::perf {

template bfs_run measure_bfs<std::uint64_t>(bfs_parameters const&, opened_graph, reporter const&);

}  // namespace karpos::perf
