// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace karpos::perf {

/// The contents of a score file.
struct score_file {
  std::vector<std::string> ids;         ///< in the form in which they are written
  std::vector<std::string> attributes;  ///< the names of the lists
  std::vector<double> cells;            ///< row by row; NaN: missing
  std::uint64_t without_scores = 0;     ///< rows that were skipped, since they have no score

  double operator()(std::size_t object, std::size_t list) const {
    return cells[object * attributes.size() + list];
  }
};

/// Reads a CSV file with a header, id,attribute,...: an id is any text, the other cells are
/// numbers, which include inf and -inf. If a cell is empty, the object is missing from that list. A
/// header alone is a file without objects.
/// Throws: bad_input, std::invalid_argument that names file, line and column.
score_file read_scores(std::string const& path,
                       std::function<void(double, std::string const&)> const& report);

}  // namespace karpos::perf
