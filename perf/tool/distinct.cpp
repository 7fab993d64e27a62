// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/support/progress.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/join/file_summary.hpp"
#include "perf/tool/join/table_files.hpp"
#include "perf/tool/join/table_options.hpp"
#include "perf/tool/program/checked_options.hpp"

namespace karpos::perf {
namespace {

struct distinct_arguments {
  distinct_parameters of_file;
  bool as_json = false;
};

int distinct_rows(distinct_arguments const& o) {
  distinct_parameters const& p = o.of_file;
  require_output(p.output, {p.file}, "the table");
  distinct_file const found = with_progress("karpos distinct", [&](reporter const& report) {
    distinct_file d = find_distinct(p, report);
    if (!p.output.empty()) write_rows(p.output, d.rows);
    return d;
  });
  print_report(o.as_json, p, found);
  return 0;
}

action define_distinct(CLI::App& app) {
  auto const o = std::make_shared<distinct_arguments>();
  distinct_parameters& p = o->of_file;
  app.add_option("file", p.file,
                 "a table in a text file, as karpos count reads it (gzip'ed or not; - is standard "
                 "input)")
      ->required();
  app.add_option("--by", p.by,
                 "columns that are compared, and shown: numbers from 1, or names of the header\n"
                 "(default: all)")
      ->type_name("COLUMN")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_table_options(app, p);
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "Rows come in the order in which they come first. Empty fields are equal to each other, and "
      "in\n"
      "columns of numbers equal numbers are (7, 007, 7.0 and 0.7e1), as the first of them is "
      "written.\n"
      "Example: karpos distinct docs/examples/data/states.csv --by counties --top 5");
  return [o] { return distinct_rows(*o); };
}

command const distinct_command("distinct", "Find the different rows of a table.", define_distinct);

}  // namespace
}  // namespace karpos::perf
