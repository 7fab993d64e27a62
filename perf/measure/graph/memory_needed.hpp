// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/bfs/parameters.hpp"
#include "perf/measure/graph/graph_source.hpp"

namespace karpos::perf {

/// Bytes per vertex and per edge that a command needs in addition to those of a search, and bytes
/// per edge that it needs only while the graph is built.
struct extra_memory {
  double per_vertex = 0, per_edge = 0, per_edge_built = 0;
};

/// Returns a lower bound of the bytes of host memory for building and searching the graph, in
/// addition to the source.
double bfs_bytes(graph_source const& source, bfs_parameters const& p, int offset_bits,
                 extra_memory const& extra = {});

/// Refuses a graph that does not fit into memory before it is built: a file of two lines may name
/// vertex 3,000,000,000.
/// Throws: allocation_error that says how much memory is needed, and what to do.
void require_bfs_memory(graph_source const& source, bfs_parameters const& p, int offset_bits,
                        extra_memory const& extra = {});

}  // namespace karpos::perf
