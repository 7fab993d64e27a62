// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/count/summary.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/support/cells.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/count/value_json.hpp"

namespace karpos::perf {
namespace {

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

/// Returns a text such as "column 1", "columns 1 'id', 2 'name'".
std::string columns_text(json const& columns, std::vector<std::string> const& names) {
  std::string text;
  for (std::size_t const c : columns) {
    text.append(text.empty() ? "" : ", ").append(std::to_string(c));
    if (c <= names.size()) text.append(" '").append(printable(names[c - 1])).append("'");
  }
  return (columns.size() == 1 ? "column " : "columns ") + text;
}

}  // namespace

json to_json(count_options const& o, count_result const& r) {
  json top = json::array();
  for (frequent_value const& f : r.top) {
    top.push_back({{"value", value_json(r.compared, f.value)}, {"count", f.count}});
  }
  return {{"format", "karpos-count-1"},
          {"context", context()},
          {"file", o.file},
          {"columns", columns_json(r.format)},
          {"left_out", left_out_json(r.format)},
          {"names", r.format.names},
          {"numeric", r.compared != comparison::text},
          {"compared", name_of(r.compared)},
          {"lines", r.lines},
          {"values", r.values},
          {"distinct", r.distinct},
          {"top", top},
          {"seconds", {{"all", r.seconds}, {"counting", r.counting_seconds}}}};
}

void print(count_options const& o, count_result r) {
  std::printf("%s: %s, %s%s\n", o.file.c_str(), counted(r.lines, "line", "lines").c_str(),
              columns_text(columns_json(r.format), r.format.names).c_str(),
              r.format.names.empty() ? "" : " (a header names them: --header no counts it)");
  if (!r.format.left_out.empty())
    std::printf("left out: %s, no ids (--column all counts everything)\n",
                columns_text(left_out_json(r.format), {}).c_str());
  std::printf("%s, %s distinct%s, %s (%s of it counting on %s)\n",
              counted(r.values, "value", "values").c_str(), grouped(r.distinct).c_str(),
              r.compared == comparison::text ? " as text" : "", human_seconds(r.seconds).c_str(),
              human_seconds(r.counting_seconds).c_str(), space::name());
  for (frequent_value& f : r.top) f.value = printable(f.value);
  std::size_t width = 5;
  for (frequent_value const& f : r.top) width = std::max(width, width_of(f.value));
  if (!r.top.empty())
    std::printf("\n  rank  %s %s   share\n", right("value", width).c_str(),
                right("count", 14).c_str());
  for (std::size_t i = 0; i < r.top.size(); ++i)
    std::printf("  %s  %s %s %5.2f %%\n", right(std::to_string(i + 1), 4).c_str(),
                (std::string(width - width_of(r.top[i].value), ' ') + r.top[i].value).c_str(),
                right(grouped(r.top[i].count), 14).c_str(),
                100.0 * static_cast<double>(r.top[i].count) / static_cast<double>(r.values));
}

}  // namespace karpos::perf
