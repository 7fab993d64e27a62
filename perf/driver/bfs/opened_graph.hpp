// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "perf/driver/bfs/load_graph.hpp"
#include "perf/driver/bfs/vertex_names.hpp"
#include "perf/support/context.hpp"

// What the commands that search a graph share: how it is opened, and what they call its vertices.

namespace karpos::perf {

struct opened_graph {
  graph_source source;
  std::string name;    ///< the file, or the generator with all that was left to it
  vertex_names names;  ///< of --relabel
  /// A list of edges counts ids from 0, and names others alone.
  bool lacks_vertex_0 = false;
  list_layout layout;  ///< of a list of edges
};

/// Opens a file or a generator, with vertices numbered without gaps if `relabel`. Throws: as
/// open_graph; std::invalid_argument for --relabel of what has no gaps.
opened_graph open_named_graph(std::string const& graph, bool directed, bool relabel,
                              load_progress const& report, graph_reading const& how);

/// Whether offsets of 32 bits hold the edges, with room for what steps compute with.
bool fits_31_bits(graph_source const& source, bool directed);

/// The vertex that --source says: what the file calls it where vertices have names, or a number.
/// Throws: std::invalid_argument for what is no vertex.
std::uint64_t vertex_of(std::string const& source, vertex_names const& names,
                        std::uint64_t vertices);

/// --source as it is kept: a name with --relabel, otherwise a number. Throws: bad_input.
std::string source_word(std::string const& word, bool relabel);

/// What the file calls a vertex, for a terminal.
std::string shown(vertex_names const& names, std::uint64_t vertex);
/// The same for JSON: a number, or a word.
json vertex_json(vertex_names const& names, std::uint64_t vertex);
/// The begin of a vertex's line in a file of results: its name and what follows, where vertices
/// have names.
std::string line_begin(vertex_names const& names, std::uint64_t vertex);
/// What divides the columns of such a file: a tab if a name has a blank.
char column_separator(vertex_names const& names);

/// Says which line of a list is no edge, and what columns behind the ends of edges were taken for.
void print_layout(list_layout const& layout, bool uses_weights);
/// "header" and "columns", if there are such.
json to_json(list_layout const& layout);
/// Says what vertices are called.
void print_relabelling(vertex_names const& names);

}  // namespace karpos::perf
