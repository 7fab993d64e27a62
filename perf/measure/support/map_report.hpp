// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "perf/measure/support/context.hpp"
#include "perf/measure/support/map_run.hpp"

namespace karpos::perf {

json to_json(samples const& s);
json to_json(ceiling const& c);

/// Returns the fields that results of all commands share, with the command's `own` fields among
/// them.
json timing_json(map_timing const& r, json const& own);
/// Returns the parameters that all commands share, with the command's `own` ones among them.
json parameters_json(map_parameters const& p, std::size_t table_bytes, json const& own);

/// Prints where the run took place, and the ceilings.
void print_machine(int repetitions, std::vector<ceiling> const& ceilings);

/// Returns a run and its context in the format of perf/results/README.md. `result` makes JSON of
/// one result.
template <class Run, class ToJson>
json run_json(char const* format, Run const& run, json const& parameters, ToJson const& result) {
  json ceilings = json::array(), results = json::array();
  for (ceiling const& c : run.ceilings) ceilings.push_back(to_json(c));
  for (auto const& r : run.results) results.push_back(result(r));
  return {{"format", format},
          {"context", context()},
          {"parameters", parameters},
          {"ceilings", ceilings},
          {"results", results}};
}

}  // namespace karpos::perf
