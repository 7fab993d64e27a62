// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Timer.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "perf/driver/command.hpp"
#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/table_format.hpp"
#include "perf/driver/count/table_reader.hpp"
#include "perf/driver/count/value_counter.hpp"
#include "perf/driver/option_values.hpp"
#include "perf/support/context.hpp"
#include "perf/support/progress.hpp"
#include "perf/support/text.hpp"

namespace karpos::perf {
namespace {

struct count_options {
  std::string file;
  format_wishes format;
  std::size_t top = 10;
  bool as_json = false;
};

struct frequent_value {
  std::string value;
  std::uint64_t count;
};

struct count_result {
  table_format format;
  std::uint64_t lines = 0, values = 0, distinct = 0;
  std::vector<frequent_value> top;
  double seconds = 0, counting_seconds = 0;
};

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

json columns_json(table_format const& format) {
  json columns = json::array();
  for (std::size_t c = 0; c < format.column_count; ++c)
    if (format.chosen(c)) columns.push_back(c + 1);
  return columns;
}

json left_out_json(table_format const& format) {
  json columns = json::array();
  for (std::size_t const c : format.left_out) columns.push_back(c + 1);
  return columns;
}

/// "column 1", "columns 1 'id', 2 'name'"
std::string columns_text(json const& columns, std::vector<std::string> const& names) {
  std::string text;
  for (std::size_t const c : columns) {
    text.append(text.empty() ? "" : ", ").append(std::to_string(c));
    if (c <= names.size()) text.append(" '").append(printable(names[c - 1])).append("'");
  }
  return (columns.size() == 1 ? "column " : "columns ") + text;
}

void print_report(count_options const& o, count_result const& r) {
  json top = json::array();
  for (frequent_value const& f : r.top) {
    json value = f.value;
    if (r.format.numeric) value = std::stoull(f.value);
    top.push_back({{"value", value}, {"count", f.count}});
  }
  json const report = {{"format", "karpos-count-1"},
                       {"context", context()},
                       {"file", o.file},
                       {"columns", columns_json(r.format)},
                       {"left_out", left_out_json(r.format)},
                       {"names", r.format.names},
                       {"numeric", r.format.numeric},
                       {"lines", r.lines},
                       {"values", r.values},
                       {"distinct", r.distinct},
                       {"top", top},
                       {"seconds", {{"all", r.seconds}, {"counting", r.counting_seconds}}}};
  print_json(report);
}

void print_table(count_options const& o, count_result r) {
  std::printf("%s: %s, %s%s\n", o.file.c_str(), counted(r.lines, "line", "lines").c_str(),
              columns_text(columns_json(r.format), r.format.names).c_str(),
              r.format.names.empty() ? "" : " (a header names them: --header no counts it)");
  if (!r.format.left_out.empty())
    std::printf("left out: %s, no ids (--column all counts everything)\n",
                columns_text(left_out_json(r.format), {}).c_str());
  std::printf("%s, %s distinct, %s (%s of it counting on %s)\n",
              counted(r.values, "value", "values").c_str(), grouped(r.distinct).c_str(),
              human_seconds(r.seconds).c_str(), human_seconds(r.counting_seconds).c_str(),
              space::name());
  for (frequent_value& f : r.top) f.value = printable(f.value);
  std::size_t width = 5;
  for (frequent_value const& f : r.top) width = std::max(width, f.value.size());
  if (!r.top.empty())
    std::printf("\n  rank  %s %s   share\n", right("value", width).c_str(),
                right("count", 14).c_str());
  for (std::size_t i = 0; i < r.top.size(); ++i)
    std::printf("  %s  %s %s %5.2f %%\n", right(std::to_string(i + 1), 4).c_str(),
                right(r.top[i].value, width).c_str(), right(grouped(r.top[i].count), 14).c_str(),
                100.0 * static_cast<double>(r.top[i].count) / static_cast<double>(r.values));
}

int count(count_options const& o) {
  count_result const r = count_file(o);
  if (o.as_json)
    print_report(o, r);
  else
    print_table(o, r);
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
