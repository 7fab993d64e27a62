// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Timer.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/count/column_counter.hpp"
#include "perf/tool/count/mapped_file.hpp"
#include "perf/tool/count/parameters.hpp"
#include "perf/tool/count/summary.hpp"
#include "perf/tool/count/table_format.hpp"
#include "perf/tool/distributed/over_ranks.hpp"
#include "perf/tool/option_values.hpp"

namespace karpos::perf {
namespace {

/// Returns the most frequent values. Sets in `result` the number of distinct values, and how they
/// were compared.
text_counts counted_values(column_counter const& counter, count_options const& o,
                           count_result& result) {
  text_counts list;
  if (result.format.numeric) {
    std::vector<value_count> all = counter.integers();
    result.distinct = all.size();
    keep_most_frequent(all, o.top, std::less<>());
    for (auto const& [value, count] : all) list.emplace_back(std::to_string(value), count);
    return list;
  }
  word_counts const words = counter.words();
  column_values const values = o.format.text ? column_values() : values_of(texts_of(words));
  result.compared = values.how;
  list = values_of_words(words, values, values.how);
  result.distinct = list.size();
  keep_most_frequent_texts(list, o.top, values.how);
  return list;
}

count_result count_file(count_options const& o) {
  Kokkos::Timer clock;
  mapped_file const file(o.file);
  count_result result;
  result.format = detect_format(file, o.format);
  progress bar("karpos count");
  auto const show = [&](double part, std::uint64_t distinct) {
    bar.show(part, grouped(distinct) + " distinct");
  };
  auto counter = std::make_unique<column_counter>(space(), file, result.format);
  if (!counter->count(show)) {
    result.format.numeric = false;
    counter = std::make_unique<column_counter>(space(), file, result.format);
    counter->count(show);
  }
  result.lines = counter->lines();
  result.values = counter->values();
  for (auto& [value, count] : counted_values(*counter, o, result))
    result.top.push_back({std::move(value), count});
  result.seconds = clock.seconds();
  result.counting_seconds = counter->seconds();
  return result;
}

int count(count_options const& o) {
  if (o.distributed) return count_over_ranks(o);
  count_result const r = count_file(o);
  print_report(o.as_json, o, r);
  return 0;
}

action define_count(CLI::App& app) {
  auto const o = std::make_shared<count_options>();
  app.add_option("file", o->file,
                 "edge list, MatrixMarket, CSV or TSV; gzip'ed or not; - is standard input")
      ->required();
  app.add_option("--column", o->format.columns,
                 "columns to count: numbers from 1, names of the header, or 'all'\n"
                 "(default: all, but for weights in an edge list and values in a matrix)")
      ->type_name("COLUMN")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--top", o->top, "how many of the most frequent values to print")
      ->transform(count_validator())
      ->capture_default_str();
  app.add_option("--separator", o->format.separator,
                 "auto, blank, tab, comma, semicolon, bar or one character")
      ->capture_default_str();
  app.add_option("--header", o->format.header,
                 "whether the first line names the columns; auto: words above numbers,\n"
                 "or words between separators that no line below has in the same column")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "yes", "no"}));
  app.add_flag("--text", o->format.text,
               "count words as they are written, also if they are numbers");
  app.add_flag(
      "--distributed", o->distributed,
      "over the ranks of MPI (mpirun -n 4 karpos count ...): each reads its part of the file");
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "For an edge list, the counts over all columns are the degrees of the vertices. If all "
      "values\n"
      "are numbers, equal ones are one value however they are written (1000, 1e3, +1000.0); else,\n"
      "and with --text, values are words. An empty cell is a value.\n"
      "Example: karpos count docs/examples/data/karate.txt --top 5");
  return [o] { return count(*o); };
}

command const count_command("count", "Count how often each value occurs in columns of a text file.",
                            define_count);

}  // namespace
}  // namespace karpos::perf
