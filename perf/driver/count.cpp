// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Timer.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/driver/command.hpp"
#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/parameters.hpp"
#include "perf/driver/count/summary.hpp"
#include "perf/driver/count/table_format.hpp"
#include "perf/driver/count/table_reader.hpp"
#include "perf/driver/count/value_counter.hpp"
#include "perf/driver/distributed/over_ranks.hpp"
#include "perf/driver/option_values.hpp"
#include "perf/support/context.hpp"
#include "perf/support/progress.hpp"
#include "perf/support/text.hpp"

namespace karpos::perf {
namespace {

count_result count_file(count_options const& o) {
  Kokkos::Timer clock;
  mapped_file const file(o.file);
  count_result result;
  result.format = detect_format(file, o.format);
  dictionary words;
  value_counter counter{space()};
  table_reader reader(file, result.format);
  progress bar("karpos count");
  std::vector<std::uint64_t> numbers;
  while (!reader.done()) {
    for (table_part const& part : reader.next()) {
      result.lines += part.lines();
      counter.add(part.numbers);
      numbers.clear();
      for (std::string_view const word : part.words) numbers.push_back(words.number_of(word));
      counter.add(numbers);
    }
    bar.show(reader.progress(), grouped(counter.distinct()) + " distinct");
  }
  counter.flush();
  result.values = counter.total();
  result.distinct = counter.distinct();
  auto const smaller = [&](std::uint64_t a, std::uint64_t b) {
    return result.format.numeric ? a < b : words.word(a) < words.word(b);
  };
  for (auto const& [value, count] : counter.top(o.top, smaller))
    result.top.push_back(
        {result.format.numeric ? std::to_string(value) : std::string(words.word(value)), count});
  result.seconds = clock.seconds();
  result.counting_seconds = counter.seconds();
  return result;
}

int count(count_options const& o) {
  if (o.distributed) return count_over_ranks(o);
  count_result const r = count_file(o);
  if (o.as_json)
    print_json(to_json(o, r));
  else
    print(o, r);
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
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--top", o->top, "how many of the most frequent values to print")
      ->transform(count_word())
      ->capture_default_str();
  app.add_option("--separator", o->format.separator,
                 "auto, blank, tab, comma, semicolon or one character")
      ->capture_default_str();
  app.add_option("--header", o->format.header,
                 "whether the first line names the columns; auto: words above numbers,\n"
                 "or words between separators that no line below has in their place")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "yes", "no"}));
  app.add_flag("--text", o->format.text, "count words, also where they are numbers");
  app.add_flag(
      "--distributed", o->distributed,
      "over the ranks of MPI (mpirun -n 4 karpos count ...): each reads its part of the file");
  app.add_flag("--json", o->as_json, "print one JSON object");
  app.footer(
      "Of an edge list, the counts over all columns are the degrees of the vertices.\n"
      "Example: karpos count docs/examples/data/karate.txt --top 5");
  return [o] { return count(*o); };
}

command const count_command("count", "Count how often each value occurs in columns of a text file.",
                            define_count);

}  // namespace
}  // namespace karpos::perf
