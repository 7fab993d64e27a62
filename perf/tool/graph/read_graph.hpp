// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "perf/measure/graph/edge_list.hpp"

// Readers of graph files: MatrixMarket coordinate matrices, DIMACS .gr and .col, METIS, GAP .sg,
// edge lists, and gzip files of all of these. Edge lists are those of SNAP, KONECT and networkx;
// commas or semicolons may separate fields, and vertices may be words. The content or the file's
// name determines the format. A file that could have two formats is refused.

namespace karpos::perf {

/// Thrown for a file that is not a readable graph. The message names the file and line (.sg: byte),
/// the reason, and what to do. In a gzip file, lines and bytes are those of its content.
struct graph_file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Called every few megabytes with the fraction that is done, in [0, 1], and a note about it. May
/// be empty.
using graph_progress = std::function<void(double part, std::string const& note)>;

/// Writes for each word the number of its vertex. Called with the words of an edge list in their
/// order, some thousands at a time; the words are valid during the call only. Numbers count from 0,
/// without gaps.
using word_numbers =
    std::function<void(std::vector<std::string_view> const& words, std::uint32_t* numbers)>;

enum class graph_format { automatic, edges, matrix_market, dimacs, metis, serialized };

/// Returns the names of the formats for `--format`, in the order of graph_format.
std::vector<std::string> const& graph_format_names();
/// Returns the format with that name. Throws: std::invalid_argument that lists the names.
graph_format parse_graph_format(std::string const& name);

struct graph_read_options {
  graph_format format = graph_format::automatic;
  /// Whether to keep the weights of edges; if so, negative weights and weights that are not finite
  /// are refused. Otherwise weights are checked to be numbers, and dropped.
  bool weights = false;
};

/// Reads a whole file, or standard input if the path is "-". With `words`, the vertices of an edge
/// list are named by arbitrary words, which include numbers, and `words` numbers them.
/// Throws: graph_file_error.
/// Memory: 8 bytes per edge, 16 with weights, and up to twice that if no header gives the number of
/// edges. For .sg files 8 bytes per vertex and 4 per entry, twice if directed. For gzip files and
/// standard input also their content.
graph_file read_graph(std::string const& path, graph_progress const& progress = {},
                      word_numbers const& words = {}, graph_read_options const& options = {});

/// Reads a file that is in memory. Messages use `name`, whose extension may determine the format.
graph_file parse_graph(std::string_view bytes, std::string const& name,
                       graph_progress const& progress = {}, word_numbers const& words = {},
                       graph_read_options const& options = {});

/// Returns whether this build reads gzip files.
bool reads_gzip();

}  // namespace karpos::perf
