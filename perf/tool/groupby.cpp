// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/groupby/measure.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/groupby/group_file.hpp"
#include "perf/tool/groupby/summary.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/checked_options.hpp"
#include "perf/tool/program/help_text.hpp"

namespace karpos::perf {
namespace {

struct groupby_arguments {
  std::string rows;
  groupby_parameters of_file;
  groupby_measure_parameters of_rows;
  std::uint64_t seed = 1;
  std::vector<std::string> peers;
  std::string nulls = "refuse";
  bool as_json = false;
  std::vector<CLI::Option*> for_files, for_generators;
};

int measure(groupby_arguments const& o) {
  require_none(o.for_files, o.rows + " is a generator", "a file");
  groupby_measure_parameters p = o.of_rows;
  p.rows = parse_row_spec(o.rows);
  p.rows.seed = o.seed;
  p.with_sort = o.for_generators.front()->count() > 0;
  groupby_run const run = with_progress(
      "karpos groupby", [&](reporter const& report) { return run_groupby(p, report); });
  print_report(o.as_json, run);
  if (run.wrong() == 0) return 0;
  std::fprintf(stderr, "karpos: %s groups were wrong\n", grouped(run.wrong()).c_str());
  return 1;
}

int group(groupby_arguments const& o) {
  require_none(o.for_generators, o.rows + " is a file", "a generator");
  groupby_parameters p = o.of_file;
  p.file = o.rows;
  p.skip_nulls = o.nulls == "skip";
  if (p.by.empty())
    throw bad_input(
        "--by is missing: name the column, or columns, whose equal values make a group");
  require_output(p.output, {p.file}, "the table");
  file_groups const groups = with_progress(
      "karpos groupby", [&](reporter const& report) { return group_file(p, report); });
  if (!p.output.empty()) write_groups(p.output, groups);
  print_report(o.as_json, p, groups);
  return 0;
}

void add_file_options(CLI::App& app, groupby_arguments& o) {
  groupby_parameters& p = o.of_file;
  auto const add = [&](CLI::Option* option) { o.for_files.push_back(option); };
  auto const add_columns = [&](char const* name, std::vector<std::string>& columns,
                               char const* what) {
    add(app.add_option(name, columns, what)
            ->delimiter(',')
            ->allow_extra_args(false)
            ->type_name("COLUMN"));
  };
  add_columns("--by", p.by,
              "columns of the keys, like city,year: numbers from 1, or names of the header");
  add_columns("--sum", p.sum, "columns of numbers to add up in each group");
  add_columns("--min", p.min, "columns of numbers of which each group's least is found");
  add_columns("--max", p.max, "columns of numbers of which each group's largest is found");
  add_columns("--mean", p.mean, "columns of numbers of which each group's mean is found");
  add(app.add_option(
             "--nulls", o.nulls,
             "cells of these that are empty or nan, or say NA, N/A, null, none, \\N: refuse\n"
             "them, or skip them; a group without a number has no sum then")
          ->capture_default_str()
          ->check(CLI::IsMember({"refuse", "skip"})));
  put_in_group(app, "Groups");
  add(app.add_option("--top", p.top, "how many groups to print: the largest first sums, or counts")
          ->transform(count_validator())
          ->capture_default_str());
  add(app.add_option("--output", p.output, "write all groups as CSV, ordered by key")
          ->type_name("FILE"));
  put_in_group(app, "Results");
  add(app.add_option("--separator", p.format.separator,
                     "auto, blank, tab, comma, semicolon, bar or one character")
          ->capture_default_str());
  add(app.add_option("--header", p.format.header,
                     "whether the first line names the columns; auto: as karpos count has it")
          ->capture_default_str()
          ->check(CLI::IsMember({"auto", "yes", "no"})));
  add(app.add_flag("--text", p.format.text,
                   "keys are words as they are written, also if they are numbers"));
  put_in_group(app, "Table");
}

void add_generator_options(CLI::App& app, groupby_arguments& o) {
  auto const add = [&](CLI::Option* option) { o.for_generators.push_back(option); };
  add(app.add_option("--peers", o.peers,
                     "beside generated rows, in the same run: sort, then reduce runs of equal keys")
          ->expected(0, -1)
          ->delimiter(',')
          ->check(CLI::IsMember({"sort", ""})));
  add(add_repetitions(app, o.of_rows.repetitions, "readings of the clock for generated rows"));
  add(app.add_option("--key-bytes", o.of_rows.key_bytes, "bytes of a generated key, and of a value")
          ->capture_default_str()
          ->check(CLI::IsMember({"4", "8"})));
  add(app.add_option("--seed", o.seed, "of a generator")
          ->transform(count_validator())
          ->capture_default_str());
  put_in_group(app, "Generated rows");
}

action define_groupby(CLI::App& app) {
  auto const o = std::make_shared<groupby_arguments>();
  app.add_option("rows", o->rows,
                 "a table in a text file, as karpos count reads it (gzip'ed or not; - is standard\n"
                 "input); or a generator, which is measured:\n"
                 "uniform:rows=2^26,distinct=1e7  zipf:rows=2^26,distinct=1e7,s=1")
      ->required();
  add_file_options(app, *o);
  add_generator_options(app, *o);
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "Keys in a column of numbers are numbers (7, 007, 7.0 and 0.7e1 are equal), others words; "
      "an\n"
      "empty one is a key, too.\n"
      "Integers, and decimals whose digits fit, are added exactly, in 64 bits; a column with an\n"
      "exponent, or with more digits, in doubles, with the same sums in any order of the rows. A\n"
      "file that is called like a generator is reached as ./NAME. Generated rows are timed, in "
      "10^9\n"
      "rows (G) a second, and 10^9 bytes of keys and values.\n"
      "Example: karpos groupby docs/examples/data/states.csv --by counties --sum population");
  return [o] { return is_generator(o->rows) ? measure(*o) : group(*o); };
}

command const groupby_command("groupby", "Group a table by columns: counts, sums, extremes, means.",
                              define_groupby);

}  // namespace
}  // namespace karpos::perf
