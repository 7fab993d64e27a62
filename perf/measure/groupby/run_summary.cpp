// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/groupby/measure.hpp"
#include "perf/measure/support/map_report.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {
namespace {

json result_json(groupby_run const& run, groupby_result const& r) {
  json j = {{"name", r.name},
            {"operation", r.operation},
            {"bytes_each", r.bytes_each},
            {"rate", run.rate(r)},
            {"of_copy", run.of_copy(r)}};
  if (r.name != "karpos") j["over_karpos"] = run.speedup_over(r);
  j.update({{"wrong", r.wrong}, {"seconds", to_json(r.time)}});
  return j;
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

json to_json(groupby_run const& run) {
  groupby_measure_parameters const& p = run.parameters;
  json results = json::array();
  for (groupby_result const& r : run.results) results.push_back(result_json(run, r));
  return {{"format", "karpos-groupby-1"},
          {"context", context()},
          {"parameters",
           {{"rows", to_string(p.rows)},
            {"seed", p.rows.seed},
            {"key_bytes", p.key_bytes},
            {"repetitions", p.repetitions},
            {"timing", timer<space>::method()}}},
          {"groups", run.groups},
          {"workspace_bytes", run.workspace_bytes},
          {"ceilings", json::array({to_json(run.copy)})},
          {"results", results},
          {"wrong", run.wrong()}};
}

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

}  // namespace karpos::perf
