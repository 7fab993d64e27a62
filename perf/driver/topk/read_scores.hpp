// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace karpos::perf {

/// What a file says about its objects.
struct score_file {
  std::vector<std::string> ids;         ///< as they are written
  std::vector<std::string> attributes;  ///< the names of the lists
  std::vector<double> cells;            ///< row by row; NaN: missing
  std::uint64_t without_scores = 0;  ///< rows that were left out, since they have no score at all

  double operator()(std::size_t object, std::size_t list) const {
    return cells[object * attributes.size() + list];
  }
};

/// Reads a CSV file with a header, id,attribute,...: an id that is any text, and numbers, inf and -inf among them; an
/// empty cell: the object is missing from that list. A header alone is a file without objects.
/// Throws: bad_input, std::invalid_argument that names file, line and column.
score_file read_scores(std::string const& path,
                       std::function<void(double, std::string const&)> const& report);

}  // namespace karpos::perf
