// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "perf/measure/topk/parameters.hpp"

namespace karpos::perf {

/// Reads a CSV file with a header, id,attribute,...: an id is any text, the other cells are
/// numbers, which include inf and -inf. If a cell is empty, the object is missing from that list. A
/// header alone is a file without objects.
/// Throws: bad_input, std::invalid_argument that names file, line and column.
score_file read_scores(std::string const& path, reporter const& report);

}  // namespace karpos::perf
