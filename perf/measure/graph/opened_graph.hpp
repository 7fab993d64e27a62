// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "perf/measure/graph/graph_source.hpp"
#include "perf/measure/graph/vertex_names.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/stopwatch.hpp"

// Graphs that are ready to be built, and the names of their vertices.

namespace karpos::perf {

struct opened_graph {
  stopwatch clock;  ///< started before the graph was opened
  graph_source source;
  std::string name;    ///< the file, or the generator with all its settings
  vertex_names names;  ///< set by --relabel
  /// The file is an edge list whose ids count from 0, and no edge has vertex 0.
  bool lacks_vertex_0 = false;
  list_layout layout;  ///< set for an edge list
};

/// Returns the graph of a generator. Throws: std::invalid_argument if there is no such generator.
opened_graph generated_graph(std::string const& generator);

/// Returns whether 32-bit offsets hold the edges, with a factor of two to spare for computations.
bool fits_31_bits(graph_source const& source, bool directed);

/// Returns the vertex that --source names: its name in the file if vertices have names, otherwise
/// its number. Throws: std::invalid_argument if there is no such vertex.
std::uint64_t vertex_of(std::string const& source, vertex_names const& names,
                        std::uint64_t vertices);

/// Returns a vertex's name in the file, in a form that is safe to print on a terminal.
std::string shown(vertex_names const& names, std::uint64_t vertex);
/// Returns a vertex's name for JSON: a number, or a word.
json vertex_json(vertex_names const& names, std::uint64_t vertex);
/// Returns the beginning of a vertex's line in a result file: its name and a separator, or nothing
/// if vertices have no names.
std::string line_begin(vertex_names const& names, std::uint64_t vertex);
/// Returns the separator of a result file's columns: a tab if a name contains a blank, else a
/// blank.
char column_separator(vertex_names const& names);

/// Prints the name and the size of a graph.
void print_graph(std::string const& name, std::uint64_t vertices, std::uint64_t edges,
                 bool undirected);
/// Prints which line of a list was taken for a header, and the meaning of the columns after the two
/// vertices.
void print_layout(list_layout const& layout, bool uses_weights);
/// Returns "header" and "columns", as far as the list has them.
json to_json(list_layout const& layout);
/// Prints how vertices are named.
void print_relabelling(vertex_names const& names);

}  // namespace karpos::perf
