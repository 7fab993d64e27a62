// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/join/measure.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/join/file_summary.hpp"
#include "perf/tool/join/table_files.hpp"
#include "perf/tool/join/table_options.hpp"
#include "perf/tool/option_values.hpp"
#include "perf/tool/program/checked_options.hpp"
#include "perf/tool/program/help_text.hpp"

namespace karpos::perf {
namespace {

struct join_arguments {
  join_parameters of_files;
  join_measure_parameters of_tables;
  std::uint64_t seed = 1;
  std::vector<std::string> peers;
  std::string keys = "numbers";
  bool as_json = false;
  std::vector<CLI::Option*> for_files, for_generators;
};

int measure_tables(join_arguments const& o) {
  std::string const& tables = o.of_files.left;
  require_none(o.for_files, tables + " is a generator", "two files");
  if (!o.of_files.right.empty())
    throw bad_input("'" + o.of_files.right +
                    "' is one word too many: the generator makes both tables");
  join_measure_parameters p = o.of_tables;
  p.tables = parse_join_spec(tables);
  p.tables.seed = o.seed;
  p.how = o.of_files.how;
  p.names = o.keys == "names";
  p.with_sort = o.for_generators.front()->count() > 0;
  join_run const run =
      with_progress("karpos join", [&](reporter const& report) { return run_join(p, report); });
  print_report(o.as_json, run);
  if (run.wrong == 0) return 0;
  std::fprintf(stderr, "karpos: %s rows were wrong\n", grouped(run.wrong).c_str());
  return 1;
}

void require_two_files(join_parameters const& p) {
  if (p.right.empty())
    throw bad_input("the right table is missing: karpos join LEFT RIGHT --on COLUMN");
  if (is_generator(p.right))
    throw bad_input("'" + p.right + "' is a generator, and '" + p.left +
                    "' a file: name two files, or one generator; for a file of that name, ./" +
                    p.right);
  if (p.left == "-" && p.right == "-")
    throw bad_input("standard input cannot be both tables: name a file for one of them");
  if (p.on.empty())
    throw bad_input(
        "--on is missing: name the columns whose equal values match, like id, or a=b,c=d");
  require_output(p.output, {p.left}, "the left table");
  require_output(p.output, {p.right}, "the right table");
}

int join_two_files(join_arguments const& o) {
  require_none(o.for_generators, o.of_files.left + " is a file", "a generator");
  join_parameters const& p = o.of_files;
  require_two_files(p);
  joined_files const joined = with_progress("karpos join", [&](reporter const& report) {
    joined_files j = join_files(p, report);
    if (!p.output.empty()) write_rows(p.output, j.rows);
    return j;
  });
  print_report(o.as_json, p, joined);
  return 0;
}

void add_file_options(CLI::App& app, join_arguments& o) {
  o.for_files.push_back(
      app.add_option("--on", o.of_files.on,
                     "columns whose equal values match: numbers from 1, or names of headers; id,\n"
                     "or a=b where the right table calls it so")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->type_name("COLUMN"));
  put_in_group(app, "Rows that match");
  for (CLI::Option* const option : add_table_options(app, o.of_files))
    o.for_files.push_back(option);
  put_in_group(app, "Tables in files");
}

void add_generator_options(CLI::App& app, join_arguments& o) {
  auto const add = [&](CLI::Option* option) { o.for_generators.push_back(option); };
  add(app.add_option(
             "--peers", o.peers,
             "beside generated tables, in the same run: sort both, then search by bisection")
          ->expected(0, -1)
          ->delimiter(',')
          ->check(CLI::IsMember({"sort", ""})));
  add(add_repetitions(app, o.of_tables.repetitions, "readings of the clock for generated tables"));
  add(app.add_option("--key-bytes", o.of_tables.key_bytes, "bytes of a generated key")
          ->capture_default_str()
          ->check(CLI::IsMember({"4", "8"})));
  add(app.add_option("--keys", o.keys,
                     "of generated tables: numbers, or names, two columns of strings, a first and\n"
                     "a last name")
          ->capture_default_str()
          ->check(CLI::IsMember({"numbers", "names"})));
  add(app.add_option("--seed", o.seed, "of a generator")
          ->transform(count_validator())
          ->capture_default_str());
  put_in_group(app, "Generated tables");
}

action define_join(CLI::App& app) {
  auto const o = std::make_shared<join_arguments>();
  app.add_option("left", o->of_files.left,
                 "a table in a text file, as karpos count reads it (gzip'ed or not; - is standard\n"
                 "input); or a generator of two tables, which are measured:\n"
                 "join:left=2^27,right=2^27,match=0.5,skew=zipf:1, also with multiplicity=1\n"
                 "(without left or right: 2^24 rows)")
      ->required();
  app.add_option("right", o->of_files.right, "the other table");
  app.add_option("--how", o->of_files.how,
                 "rows that match; also those of one table, or of both, without a match; or left\n"
                 "(right) rows alone with a match (semi), or without (anti)")
      ->capture_default_str()
      ->check(CLI::IsMember(join_kind_names()));
  add_file_options(app, *o);
  add_generator_options(app, *o);
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "Columns of numbers on both sides are compared as numbers (7, 007, 7.0 and 0.7e1 are "
      "equal),\n"
      "others as text. An empty field matches nothing. Rows come in the order of left rows. A "
      "file\n"
      "that is called like a generator is reached as ./NAME. Generated tables are timed, in 10^9\n"
      "rows (G) a second.\n"
      "Example: karpos join docs/examples/data/{capitals,states}.csv --on name=state");
  return [o] { return is_generator(o->of_files.left) ? measure_tables(*o) : join_two_files(*o); };
}

command const join_command("join", "Join two tables by equal values of columns.", define_join);

}  // namespace
}  // namespace karpos::perf
