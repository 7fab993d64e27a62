// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/graph/opened_graph.hpp"

namespace karpos::perf {

/// Returns the width of offsets: the parameters', else the narrower one that suffices.
int offset_bits_for(bfs_parameters const& p, graph_source const& source);

/// Builds the graph and measures what the parameters ask for. Calls `report(part, what)` as the
/// work progresses. Throws an error that makes the input unusable before the first search.
bfs_run run_bfs(bfs_parameters const& p, opened_graph graph, reporter const& report);

/// Does the part of run_bfs that depends on the width of offsets. Each width, 32 and 64 bits, has a
/// file of its own, since the kernels of a search take long to compile.
template <class Offset>
bfs_run measure_bfs(bfs_parameters const& p, opened_graph graph, reporter const& report);

extern template bfs_run measure_bfs<std::uint32_t>(bfs_parameters const&, opened_graph,
                                                   reporter const&);
extern template bfs_run measure_bfs<std::uint64_t>(bfs_parameters const&, opened_graph,
                                                   reporter const&);

}  // namespace karpos::perf
