// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "perf/graph/edge_list.hpp"

// Graphs in files: MatrixMarket coordinate matrices, DIMACS .gr and .col, SNAP edge lists, GAP .sg, and
// each of them gzip'ed; edge lists also with commas or semicolons, or with words for vertices. The content tells which it is; the name does not matter. Weights are checked to be
// numbers and dropped.

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

/// Reads the whole file, standard input if it is "-", or throws graph_file_error. With `words` the vertices of an
/// edge list are called by any words, numbers too, and have the numbers that these get.
/// Memory: 8 bytes per edge, at most doubled where no header tells the number of edges; the content of a
/// gzip'ed file besides.
graph_file read_graph(std::string const& path, graph_progress const& progress = {},
                      word_numbers const& words = {});

/// The same for a file that is in memory; messages call it `name`.
graph_file parse_graph(std::string_view bytes, std::string const& name,
                       graph_progress const& progress = {}, word_numbers const& words = {});

/// Whether this build reads gzip'ed files.
bool reads_gzip();

}  // namespace karpos::perf
