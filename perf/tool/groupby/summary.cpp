// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/groupby/summary.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/support/cells.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/count/value_json.hpp"

namespace karpos::perf {
namespace {

/// Returns the value of a single key column, or a list for several.
json key_json(file_groups const& g, std::size_t i) {
  json keys = json::array();
  for (std::size_t k = 0; k < g.by.size(); ++k)
    keys.push_back(value_json(g.compared[k], g.keys[i][k]));
  return keys.size() == 1 ? keys[0] : keys;
}

json group_json(file_groups const& g, std::size_t i) {
  json group = {{"key", key_json(g, i)}, {"count", g.counts[i]}};
  json& values = group["values"] = json::array();
  for (group_values const& v : g.values)
    values.push_back(v.none[i]                  ? json()
                     : v.exact && v.places == 0 ? json(v.integers[i])
                                                : json(v.value(i)));
  return group;
}

/// Returns a text such as "column 1 'city', column 2 'year'".
std::string columns_text_of(file_groups const& g) {
  std::string text;
  for (std::size_t const c : g.by) {
    text += (text.empty() ? "column " : ", column ") + std::to_string(c + 1);
    if (c < g.header.size()) text += " '" + printable(g.header[c]) + "'";
  }
  return text;
}

/// Returns a text such as "text", "integers, text".
std::string comparisons(file_groups const& g) {
  std::string text;
  for (comparison const how : g.compared)
    text += (text.empty() ? "" : ", ") + std::string(name_of(how));
  return text;
}

}  // namespace

json to_json(groupby_parameters const& p, file_groups const& g) {
  json by = json::array(), compared = json::array(), values = json::array(), top = json::array();
  for (std::size_t const c : g.by) by.push_back(c + 1);
  for (comparison const how : g.compared) compared.push_back(name_of(how));
  for (group_values const& v : g.values)
    values.push_back({{"operation", v.operation},
                      {"column", v.column + 1},
                      {"name", v.name},
                      {"exact", v.exact},
                      {"nulls", v.nulls}});
  for (std::size_t const i : g.top) top.push_back(group_json(g, i));
  return {{"format", "karpos-groupby-1"},
          {"context", context()},
          {"file", p.file},
          {"by", by.size() == 1 ? by[0] : by},
          {"names", g.header},
          {"compared", compared},
          {"lines", g.lines},
          {"groups", g.size()},
          {"values", values},
          {"top", top},
          {"seconds", {{"all", g.seconds}, {"grouping", g.grouping_seconds}}}};
}

void print(groupby_parameters const& p, file_groups const& g) {
  std::printf("%s: %s, by %s%s\n", p.file.c_str(), counted(g.lines, "line", "lines").c_str(),
              columns_text_of(g).c_str(),
              g.header.empty() ? "" : " (a header names them: --header no takes it for data)");
  std::printf("keys are compared as %s\n", comparisons(g).c_str());
  for (group_values const& v : g.values) {
    if (!v.exact && v.operation != "mean")
      std::printf("%s: added and compared as doubles\n", printable(v.name).c_str());
    if (v.nulls > 0)
      std::printf("%s: %s left out (--nulls skip)\n", printable(v.name).c_str(),
                  counted(v.nulls, "cell without a number", "cells without a number").c_str());
  }
  std::printf("%s, %s (%s of it grouping on %s)\n", counted(g.size(), "group", "groups").c_str(),
              human_seconds(g.seconds).c_str(), human_seconds(g.grouping_seconds).c_str(),
              space::name());
  if (!p.output.empty()) std::printf("all of them, ordered by key: %s\n", p.output.c_str());
  if (g.top.empty()) return;
  std::printf("\n");
  std::vector<std::vector<std::string>> table = {g.by_name};
  table[0].push_back("count");
  for (group_values const& v : g.values) table[0].push_back(v.name);
  for (std::size_t const i : g.top) {
    table.push_back(g.keys[i]);
    table.back().push_back(std::to_string(g.counts[i]));
    for (group_values const& v : g.values) table.back().push_back(v.text(i));
  }
  print_cells(table);
}

}  // namespace karpos::perf
