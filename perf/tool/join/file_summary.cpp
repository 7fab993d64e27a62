// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/join/file_summary.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/support/cells.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

json names_of(selected_rows const& rows) {
  json names = json::array();
  for (auto const& c : rows.columns()) names.push_back(c.name);
  return names;
}

json top_of(selected_rows const& rows, std::size_t most) {
  json top = json::array();
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(most, rows.size()); ++i) {
    json row = json::array();
    for (std::string const* cell : rows.row(i))
      row.push_back(cell == nullptr ? json(nullptr) : json(*cell));
    top.push_back(std::move(row));
  }
  return top;
}

json table_json(text_table const& table, std::uint64_t nulls) {
  json keys = json::array();
  for (std::size_t const c : table.keys()) keys.push_back(c + 1);
  return {{"file", table.path()},
          {"header", table.has_header()},
          {"lines", table.rows()},
          {"on", keys},
          {"nulls", nulls}};
}

std::string key_text(joined_files const& j, std::size_t key) {
  std::string const left = j.left->names()[j.left->keys()[key]];
  std::string const right = j.right->names()[j.right->keys()[key]];
  return printable(left) + (left == right ? "" : " = " + printable(right)) + " (" +
         name_of(j.compared[key]) + ")";
}

void print_table(text_table const& table, std::uint64_t nulls) {
  std::printf("%s: %s%s%s\n", table.path().c_str(), counted(table.rows(), "line", "lines").c_str(),
              table.has_header() ? " below a header" : "",
              nulls == 0 ? "" : (", " + grouped(nulls) + " without a key").c_str());
}

void print_rows(selected_rows const& rows, std::string const& output, std::size_t top) {
  if (!output.empty()) std::printf("all of them: %s\n", output.c_str());
  if (top == 0 || rows.size() == 0) return;
  std::printf("\n");
  print_cells(first_rows(rows, top));
  if (top < rows.size() && output.empty())
    std::printf("  ... and %s more (--output FILE writes all, --top N prints more)\n",
                grouped(rows.size() - top).c_str());
}

}  // namespace

json to_json(join_parameters const& p, joined_files const& j) {
  json compared = json::array();
  for (comparison const how : j.compared) compared.push_back(name_of(how));
  return {{"format", "karpos-join-1"},
          {"context", context()},
          {"how", p.how},
          {"left", table_json(*j.left, j.left_nulls)},
          {"right", table_json(*j.right, j.right_nulls)},
          {"compared", compared},
          {"rows", j.size},
          {"memory_bytes", j.memory_bytes},
          {"names", names_of(j.rows)},
          {"top", top_of(j.rows, p.top)},
          {"seconds",
           {{"all", j.seconds},
            {"index", j.index_seconds},
            {"match", j.match_seconds},
            {"write", j.write_seconds}}}};
}

json to_json(distinct_parameters const& p, distinct_file const& d) {
  json by = json::array(), compared = json::array();
  for (std::size_t const c : d.table->keys()) by.push_back(c + 1);
  for (comparison const how : d.compared) compared.push_back(name_of(how));
  return {{"format", "karpos-distinct-1"},
          {"context", context()},
          {"file", d.table->path()},
          {"header", d.table->has_header()},
          {"by", by},
          {"compared", compared},
          {"lines", d.table->rows()},
          {"distinct", d.size},
          {"names", names_of(d.rows)},
          {"top", top_of(d.rows, p.top)},
          {"seconds", {{"all", d.seconds}, {"distinct", d.distinct_seconds}}}};
}

void print(join_parameters const& p, joined_files const& j) {
  print_table(*j.left, j.left_nulls);
  print_table(*j.right, j.right_nulls);
  std::string keys;
  for (std::size_t k = 0; k < j.compared.size(); ++k) keys += (k == 0 ? "" : ", ") + key_text(j, k);
  double const joining = j.index_seconds + j.match_seconds + j.write_seconds;
  std::printf("%s join on %s: %s, %s (%s of it joining on %s)\n", p.how.c_str(), keys.c_str(),
              counted(j.size, "row", "rows").c_str(), human_seconds(j.seconds).c_str(),
              human_seconds(joining).c_str(), space::name());
  std::printf("memory: %s beside the text and these rows\n", human_bytes(j.memory_bytes).c_str());
  print_rows(j.rows, p.output, p.top);
}

void print(distinct_parameters const& p, distinct_file const& d) {
  print_table(*d.table, 0);
  std::printf("%s of %s, %s (%s of it comparing on %s)\n",
              counted(d.size, "different row", "different rows").c_str(),
              counted(d.table->keys().size(), "column", "columns").c_str(),
              human_seconds(d.seconds).c_str(), human_seconds(d.distinct_seconds).c_str(),
              space::name());
  print_rows(d.rows, p.output, p.top);
}

}  // namespace karpos::perf
