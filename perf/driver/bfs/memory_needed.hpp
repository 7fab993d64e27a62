// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/driver/bfs/load_graph.hpp"
#include "perf/driver/bfs/parameters.hpp"

namespace karpos::perf {

/// Bytes of host memory that building the graph and searching it takes beside the source, at least.
double bfs_bytes(graph_source const& source, bfs_parameters const& p, int offset_bits);

/// Bytes beside those of a search.
struct more_memory {
  double a_vertex = 0, an_edge = 0;
};

/// Refuses a graph that memory cannot hold, before it is built: a file of two lines may name vertex 3,000,000,000.
/// Throws: allocation_error that tells what it takes, and what to do.
void require_bfs_memory(graph_source const& source, bfs_parameters const& p, int offset_bits,
                        more_memory const& more = {});

}  // namespace karpos::perf
