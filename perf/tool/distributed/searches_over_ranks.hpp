// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/graph/graph_source.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/tool/distributed/on_ranks.hpp"

namespace karpos::perf {

/// Searches over ranks: what is equal on all ranks, and the member `ranks` of the JSON.
struct searches_over_ranks {
  bfs_run run;
  json ranks;
};

inline void show(progress* bar, double part, char const* what) {
  if (bar != nullptr) bar->show(part, what);
}

/// Builds the graph and searches it from one source after the other. clock: started before the
/// source was opened. bar: may be null. Collective.
template <class Offset>
searches_over_ranks measure_searches(rank_communicator const& ranks, bfs_parameters const& p,
                                     graph_source const& source, Kokkos::Timer& clock,
                                     progress* bar);

extern template searches_over_ranks measure_searches<std::uint32_t>(rank_communicator const&,
                                                                    bfs_parameters const&,
                                                                    graph_source const&,
                                                                    Kokkos::Timer&, progress*);
extern template searches_over_ranks measure_searches<std::uint64_t>(rank_communicator const&,
                                                                    bfs_parameters const&,
                                                                    graph_source const&,
                                                                    Kokkos::Timer&, progress*);

}  // namespace karpos::perf
