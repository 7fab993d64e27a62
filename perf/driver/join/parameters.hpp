// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "karpos/join.hpp"
#include "perf/driver/count/table_format.hpp"

namespace karpos::perf {

/// What `karpos join` may vary of two files.
struct join_parameters {
  std::string left, right, output;
  std::vector<std::string> on;  ///< "column", or "left column=right column"
  std::string how = "inner";
  format_wishes format;
  std::size_t top = 10;
};

/// What `karpos distinct` may vary of a file.
struct distinct_parameters {
  std::string file, output;
  std::vector<std::string> by;  ///< columns; none: all
  format_wishes format;
  std::size_t top = 10;
};

/// Names of the kinds of joins.
std::vector<std::string> join_kind_names();
/// The kind of such a name.
join_kind join_kind_of(std::string const& name);

}  // namespace karpos::perf
