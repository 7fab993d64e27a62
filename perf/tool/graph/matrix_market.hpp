// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "perf/tool/graph/text_lines.hpp"

namespace karpos::perf::graph_input {

/// The contents of the banner and the size line of a coordinate matrix.
struct matrix_header {
  std::uint64_t rows = 0, columns = 0, entries = 0;
  int values = 0;  ///< numbers that follow the two ids of an entry
  bool undirected = false;
};

/// Reads the text up to the size line. Throws: graph_file_error.
matrix_header read_matrix_header(text_lines& lines);

}  // namespace karpos::perf::graph_input
