// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>
#include <cstdint>

#include "perf/driver/bfs/opened_graph.hpp"
#include "perf/driver/bfs/parameters.hpp"

namespace karpos::perf {

/// Loads the graph and measures what the parameters ask for. `report(part, what)` is told the progress.
/// Throws: whatever makes the input unusable, before the first search.
bfs_run run_bfs(bfs_parameters const& p, load_progress const& report);

/// The part of it that depends on the width of offsets, once the graph has been opened; `clock` started before that.
/// For 32 and 64 bits, in a file of its own each, since the kernels of a search take long to compile.
template <class Offset>
bfs_run measure_bfs(bfs_parameters const& p, opened_graph graph, Kokkos::Timer const& clock,
                    load_progress const& report);

extern template bfs_run measure_bfs<std::uint32_t>(bfs_parameters const&, opened_graph,
                                                   Kokkos::Timer const&, load_progress const&);
extern template bfs_run measure_bfs<std::uint64_t>(bfs_parameters const&, opened_graph,
                                                   Kokkos::Timer const&, load_progress const&);

}  // namespace karpos::perf
