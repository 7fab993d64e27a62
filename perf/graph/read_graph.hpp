// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "perf/graph/edge_list.hpp"

// Graphs in files: MatrixMarket coordinate matrices, DIMACS .gr and .col, METIS, GAP .sg, lists of edges, and each of them
// gzip'ed. Lists of edges are those of SNAP, KONECT and networkx; commas or semicolons may stand between fields, and vertices
// may be words. The content tells the format, or the file's name; what could be two formats is refused.

namespace karpos::perf {

/// The file is no graph that can be read; the message names file and line (.sg: byte), the reason and what
/// to do. Lines and bytes of a gzip'ed file are those of its content.
struct graph_file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Called every few megabytes with the part that is done, in [0, 1], and a word about it. May be empty.
using graph_progress = std::function<void(double part, std::string const& note)>;

/// Writes the number of its vertex for each word. Called with the words of an edge list in their order, some
/// thousands at a time; they last as long as the call. Numbers count from 0, without gaps.
using word_numbers =
    std::function<void(std::vector<std::string_view> const& words, std::uint32_t* numbers)>;

enum class graph_format { automatic, edges, matrix_market, dimacs, metis, serialized };

/// The names of the formats for `--format`, in the order of graph_format.
std::vector<std::string> const& graph_format_names();
/// Returns the format of that name. Throws: std::invalid_argument that lists the names.
graph_format graph_format_called(std::string const& name);

struct graph_reading {
  graph_format format = graph_format::automatic;
  /// Keeps the weights of edges, and refuses those that are negative or not finite. Otherwise weights are checked to be numbers,
  /// and dropped.
  bool weights = false;
};

/// Reads the whole file, standard input if it is "-", or throws graph_file_error. With `words` the vertices of an
/// edge list are called by any words, numbers too, and have the numbers that these get.
/// Memory: 8 bytes per edge, 16 with weights, at most doubled if no header tells the number of edges; the content of a
/// gzip'ed file besides.
graph_file read_graph(std::string const& path, graph_progress const& progress = {},
                      word_numbers const& words = {}, graph_reading const& how = {});

/// Reads a file that is in memory; messages call it `name`, whose end may tell the format.
graph_file parse_graph(std::string_view bytes, std::string const& name,
                       graph_progress const& progress = {}, word_numbers const& words = {},
                       graph_reading const& how = {});

/// Whether this build reads gzip'ed files.
bool reads_gzip();

}  // namespace karpos::perf
