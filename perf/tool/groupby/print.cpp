// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "perf/measure/support/text.hpp"
#include "perf/tool/groupby/summary.hpp"
#include "perf/tool/program/cells.hpp"

namespace karpos::perf {
namespace {

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

void print_result(groupby_run const& run, groupby_result const& r) {
  bool const ours = r.name == "karpos";
  std::printf("  %s %s %s %s %s %s   %s%s%s\n", left(r.name, 7).c_str(),
              left(r.operation, 6).c_str(), right(human_seconds(r.time.median()), 10).c_str(),
              right(human_seconds(r.time.low()), 10).c_str(),
              right(three_digits(run.rate(r) * 1e-9), 8).c_str(),
              right(three_digits(run.rate(r) * r.bytes_each * 1e-9), 7).c_str(),
              right(three_digits(run.of_copy(r)), 7).c_str(),
              ours ? "" : (right(three_digits(run.speedup_over(r)), 9) + "x as fast").c_str(),
              r.wrong == 0 ? "" : ("   WRONG: " + grouped(r.wrong)).c_str());
}

}  // namespace

void print(groupby_run const& run) {
  groupby_measure_parameters const& p = run.parameters;
  std::printf("%s: %s of %d + %d bytes, %s; workspace of %s\n", to_string(p.rows).c_str(),
              counted(p.rows.rows, "row", "rows").c_str(), p.key_bytes, p.key_bytes,
              counted(run.groups, "group", "groups").c_str(),
              human_bytes(static_cast<double>(run.workspace_bytes)).c_str());
  std::printf("%s\n", run_description(p.repetitions).c_str());
  std::printf("ceiling: a copy of as many bytes, %s GB/s read and written\n\n",
              three_digits(run.copy.bytes_per_second() * 1e-9).c_str());
  std::printf("                     median      least G rows/s    GB/s   of copy%s\n",
              p.with_sort ? "   karpos is" : "");
  for (groupby_result const& r : run.results) print_result(run, r);
  if (run.wrong() == 0) std::printf("checked: a sort on the host agrees\n");
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
