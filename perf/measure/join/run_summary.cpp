// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>

#include "perf/measure/join/measure.hpp"
#include "perf/measure/support/map_report.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {
namespace {

json phase_json(join_run const& run, join_result const& r) {
  json j = {{"name", r.name},
            {"phase", r.phase},
            {"bytes", r.bytes},
            {"rate", run.rate(r)},
            {"of_copy", run.of_copy(r)}};
  if (r.name != "karpos") j["over_karpos"] = run.speedup_over(r);
  j["seconds"] = to_json(r.time);
  return j;
}

void print_phase(join_run const& run, join_result const& r) {
  bool const ours = r.name == "karpos";
  std::printf("  %s %s %s %s %s %s   %s%s\n", left(r.name, 7).c_str(), left(r.phase, 6).c_str(),
              right(human_seconds(r.time.median()), 10).c_str(),
              right(human_seconds(r.time.low()), 10).c_str(),
              right(three_digits(run.rate(r) * 1e-9), 8).c_str(),
              right(three_digits(static_cast<double>(r.bytes) / r.time.median() * 1e-9), 7).c_str(),
              right(three_digits(run.of_copy(r)), 7).c_str(),
              ours ? "" : (right(three_digits(run.speedup_over(r)), 9) + "x as fast").c_str());
}

}  // namespace

json to_json(join_run const& run) {
  join_measure_parameters const& p = run.parameters;
  json results = json::array();
  for (join_result const& r : run.results) results.push_back(phase_json(run, r));
  return {{"format", "karpos-join-1"},
          {"context", context()},
          {"parameters",
           {{"tables", to_string(p.tables)},
            {"seed", p.tables.seed},
            {"how", p.how},
            {"key_bytes", p.key_bytes},
            {"keys", p.names ? "names" : "numbers"},
            {"repetitions", p.repetitions},
            {"timing", timer<space>::method()}}},
          {"rows", run.size},
          {"index_bytes", run.index_bytes},
          {"build_bytes", run.build_bytes},
          {"match_bytes", run.match_bytes},
          {"ceilings", json::array({to_json(run.copy)})},
          {"results", results},
          {"wrong", run.wrong}};
}

void print(join_run const& run) {
  join_measure_parameters const& p = run.parameters;
  auto const bytes = [](std::size_t n) { return human_bytes(static_cast<double>(n)); };
  std::string const keys =
      p.names ? "first and last names" : "keys of " + std::to_string(p.key_bytes) + " bytes";
  std::printf("%s: %s join by %s, %s\n", to_string(p.tables).c_str(), p.how.c_str(), keys.c_str(),
              counted(run.size, "row", "rows").c_str());
  std::printf("memory: %s of index, %s while it is built, %s of the join\n",
              bytes(run.index_bytes).c_str(), bytes(run.build_bytes).c_str(),
              bytes(run.match_bytes).c_str());
  std::printf("%s\n", run_description(p.repetitions).c_str());
  std::printf("ceiling: a copy of as many bytes as keys, %s GB/s read and written\n\n",
              three_digits(run.copy.bytes_per_second() * 1e-9).c_str());
  std::printf("                     median      least G rows/s    GB/s   of copy%s\n",
              p.with_sort ? "   karpos is" : "");
  for (join_result const& r : run.results) print_phase(run, r);
  if (run.wrong == 0) std::printf("checked: a join by sorting on the host agrees\n");
}

}  // namespace karpos::perf
