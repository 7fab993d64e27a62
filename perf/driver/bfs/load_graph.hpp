// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <karpos/csr_graph.hpp>
#include <karpos/csr_options.hpp>
#include <string>
#include <variant>

#include "perf/graph/edge_list.hpp"
#include "perf/graph/generator_spec.hpp"
#include "perf/graph/read_graph.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

/// A graph before it is where the driver runs: how to make it, or what a file holds.
using graph_source = std::variant<generator_spec, edge_list, csr_arrays>;

using load_progress = std::function<void(double, std::string const&)>;

/// Reads the file, or the words of a generator. Edges of a file count both ways unless `directed`, or the file says
/// what they do itself. With `words` its vertices may have any names.
/// Throws: graph_file_error; std::invalid_argument for a generator that there is not, and for a format of a generator.
graph_source open_graph(std::string const& name, bool directed, load_progress const& report,
                        word_numbers const& words = {}, graph_reading const& how = {});

/// No fewer directed edges than the graph will have.
std::uint64_t max_edges(graph_source const& source, bool directed);

/// Brings the graph where the driver runs: without self loops and duplicates, unless `clean` keeps them or a .sg
/// file has them, and with its transpose where it is directed. For offsets of 32 and 64 bits.
/// Throws: std::length_error when Offset is too narrow for max_edges(); allocation_error.
template <class Offset>
csr_graph<std::uint32_t, Offset, memory> build_graph(space const& exec, graph_source const& source,
                                                     bool directed, load_progress const& report,
                                                     csr_options const& clean = {});

/// The weights of build_graph's edges, from a list with weights: the smallest one of those that stand for an edge, in either
/// direction if edges count both ways. For the types that sssp measures.
template <class Weight, class Offset>
array<Weight> build_weights(space const& exec,
                            csr_graph<std::uint32_t, Offset, memory> const& graph,
                            edge_list const& list, bool directed);

}  // namespace karpos::perf
