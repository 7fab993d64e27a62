// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "perf/tool/count/table_format.hpp"

namespace karpos::perf {

/// Parameters of `karpos join` for two files.
struct join_parameters {
  std::string left, right, output;
  std::vector<std::string> on;  ///< "column", or "left column=right column"
  std::string how = "inner";
  format_settings format;
  std::size_t top = 10;
};

/// Parameters of `karpos distinct`.
struct distinct_parameters {
  std::string file, output;
  std::vector<std::string> by;  ///< columns; empty: all
  format_settings format;
  std::size_t top = 10;
};

}  // namespace karpos::perf
