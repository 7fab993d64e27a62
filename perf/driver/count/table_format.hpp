// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/table_text.hpp"

namespace karpos::perf {

/// What the user says about the file; the rest is found out.
struct format_wishes {
  std::vector<std::string> columns;  ///< numbers from 1, or "all"
  std::string separator = "auto";    ///< auto, blank, tab, comma, semicolon or one character
  std::string header = "auto";       ///< auto, yes, no
  bool text = false;                 ///< count words even where they are numbers
};

/// Looks at the first lines. Throws bad_input that names file and line.
table_format detect_format(mapped_file const& file, format_wishes const& wishes);

}  // namespace karpos::perf
