// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/table_text.hpp"

namespace karpos::perf {

/// What the user says about the file; the rest is found out.
struct format_wishes {
  std::vector<std::string> columns;  ///< numbers from 1, names of a header, or "all"
  std::string separator = "auto";    ///< auto, blank, tab, comma, semicolon, bar or one character
  std::string header = "auto";       ///< auto, yes, no
  bool text = false;                 ///< count words even where they are numbers
};

/// Looks at the first rows; without a wish, weights of edges and values of entries are not counted. A header alone is an
/// empty table.
/// Throws: bad_input, graph_file_error that name file and line.
table_format detect_format(mapped_file const& file, format_wishes const& wishes);

/// What stands between the fields of the table that begins at `begin`: a tab, comma, semicolon or bar, which split the first
/// rows alike, or else the first of these that the first row has; a blank if it has none.
char find_separator(std::string_view text, std::size_t begin);

/// The column, from 0, of that number, counted from 1, or of that name of the header. Throws: bad_input, which names the
/// file.
std::size_t column_of(std::string const& wish, std::vector<std::string> const& names,
                      std::string const& path);

/// "column 2 'sales'", for a message.
std::string column_text(std::size_t column, std::vector<std::string> const& names);

}  // namespace karpos::perf
