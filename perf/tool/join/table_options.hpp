// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "perf/tool/option_values.hpp"

namespace karpos::perf {

/// Adds the options of commands that make rows of tables: how to read the tables, and where to
/// write the rows. Returns these options.
template <class Parameters>
std::vector<CLI::Option*> add_table_options(CLI::App& app, Parameters& p) {
  return {app.add_option("--top", p.top, "how many of the first rows to print")
              ->transform(count_validator())
              ->capture_default_str(),
          app.add_option("--output", p.output, "write all rows as CSV")->type_name("FILE"),
          app.add_option("--separator", p.format.separator,
                         "auto, blank, tab, comma, semicolon, bar or one character")
              ->capture_default_str(),
          app.add_option("--header", p.format.header,
                         "whether the first line names the columns; auto: as karpos count has it")
              ->capture_default_str()
              ->check(CLI::IsMember({"auto", "yes", "no"})),
          app.add_flag("--text", p.format.text,
                       "compare words as they are written, also if they are numbers")};
}

}  // namespace karpos::perf
