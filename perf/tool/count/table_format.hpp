// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "perf/tool/count/mapped_file.hpp"
#include "perf/tool/count/table_text.hpp"

namespace karpos::perf {

/// The user's settings for the format of a file; everything else is detected.
struct format_settings {
  std::vector<std::string> columns;  ///< numbers from 1, names in a header, or "all"
  std::string separator = "auto";    ///< auto, blank, tab, comma, semicolon, bar or one character
  std::string header = "auto";       ///< auto, yes, no
  bool text = false;                 ///< count words even if they are numbers
};

/// Detects the format from the first rows. If the user chose no columns, weights of edges and
/// values of entries are not counted. A header alone is an empty table.
/// Throws: bad_input, graph_file_error that name file and line.
table_format detect_format(mapped_file const& file, format_settings const& settings);

/// Returns the separator of the table that begins at `begin`: a tab; else a comma, semicolon or bar
/// that splits the first rows alike; else the first of these three in the first row; else a comma
/// if the table is one quoted column, and a blank if not.
char find_separator(std::string_view text, std::size_t begin);

/// Returns the column, counted from 0, that `setting` means: a number, counted from 1, or a name in
/// the header. Throws: bad_input, which names the file.
std::size_t column_of(std::string const& setting, std::vector<std::string> const& names,
                      std::string const& path);

/// Returns "column 2 'sales'", for a message.
std::string column_text(std::size_t column, std::vector<std::string> const& names);

}  // namespace karpos::perf
