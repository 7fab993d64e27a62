// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "perf/support/context.hpp"
#include "perf/support/map_run.hpp"

namespace karpos::perf {

json to_json(samples const& s);
json to_json(ceiling const& c);

/// The fields that the results of every command have, with `own` ones among them.
json timing_json(map_timing const& r, json const& own);
/// The parameters that every command has, with `own` ones among them.
json parameters_json(map_parameters const& p, std::size_t table_bytes, json const& own);

/// A run with its context, as perf/results/README.md describes it. `result` makes JSON of one result.
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
