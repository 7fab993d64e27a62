// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "perf/measure/graph/load_graph.hpp"
#include "perf/measure/graph/vertex_names.hpp"
#include "perf/measure/support/context.hpp"

// How the commands that search a graph open it, and how they name its vertices.

namespace karpos::perf {

struct opened_graph {
  graph_source source;
  std::string name;    ///< the file, or the generator with all its settings
  vertex_names names;  ///< set by --relabel
  /// The file is an edge list whose ids count from 0, and no edge has vertex 0.
  bool lacks_vertex_0 = false;
  list_layout layout;  ///< set for an edge list
};

/// Opens a file or a generator, with vertices numbered without gaps if `relabel` is set. Throws: as
/// open_graph; std::invalid_argument for --relabel of a graph whose ids have no gaps.
opened_graph open_named_graph(std::string const& graph, bool directed, bool relabel,
                              load_progress const& report, graph_read_options const& options);

/// Returns whether 32-bit offsets hold the edges, with a factor of two to spare for computations.
bool fits_31_bits(graph_source const& source, bool directed);

/// Returns the vertex that --source names: its name in the file if vertices have names, otherwise
/// its number. Throws: std::invalid_argument if there is no such vertex.
std::uint64_t vertex_of(std::string const& source, vertex_names const& names,
                        std::uint64_t vertices);

/// Returns the value of --source in the form that is kept: a name with --relabel, otherwise a
/// number. Throws: bad_input.
std::string source_word(std::string const& word, bool relabel);

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

/// Prints which line of a list was taken for a header, and the meaning of the columns after the two
/// vertices.
void print_layout(list_layout const& layout, bool uses_weights);
/// Returns "header" and "columns", as far as the list has them.
json to_json(list_layout const& layout);
/// Prints how vertices are named.
void print_relabelling(vertex_names const& names);

}  // namespace karpos::perf
