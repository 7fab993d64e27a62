// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/csr_graph.hpp>
#include <karpos/csr_options.hpp>
#include <variant>

#include "perf/measure/graph/edge_list.hpp"
#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// A graph before it is in the driver's memory: how to generate it, or the content of a file.
using graph_source = std::variant<generator_spec, edge_list, csr_arrays>;

/// Returns an upper bound of the graph's directed edges.
std::uint64_t max_edges(graph_source const& source, bool directed);

/// Builds the graph in the driver's memory, with its transpose if it is directed. Removes self
/// loops and duplicates, unless `clean` keeps them or they are in a .sg file. For offsets of 32 and
/// 64 bits.
/// Throws: std::length_error if Offset is too narrow for max_edges(); allocation_error.
template <class Offset>
csr_graph<std::uint32_t, Offset, memory> build_graph(space const& exec, graph_source const& source,
                                                     bool directed, reporter const& report,
                                                     csr_options const& clean = {});

template <class Weight, class Offset>
using weighted_graph = weighted_csr_graph<csr_graph<std::uint32_t, Offset, memory>, Weight>;

/// Builds the graph of a list with weights, as build_graph does, and the weights of its edges. An
/// edge gets the smallest weight among the entries that stand for it, in either direction if edges
/// count in both. For the types that sssp measures.
template <class Weight, class Offset>
weighted_graph<Weight, Offset> build_weighted_graph(space const& exec, edge_list const& list,
                                                    bool directed, reporter const& report);

}  // namespace karpos::perf
