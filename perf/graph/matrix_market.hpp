// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "perf/graph/text_lines.hpp"

namespace karpos::perf::graph_input {

/// What banner and line of sizes say of a coordinate matrix.
struct matrix_header {
  std::uint64_t rows = 0, columns = 0, entries = 0;
  int values = 0;  ///< numbers behind the two ids of an entry
  bool undirected = false;
};

/// Reads up to the line of sizes. Throws: graph_file_error.
matrix_header take_matrix_header(text_lines& lines);

}  // namespace karpos::perf::graph_input
