// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/groupby/summary.hpp"

#include <nlohmann/json.hpp>

#include "perf/measure/support/map_json.hpp"
#include "perf/measure/support/timer.hpp"
#include "perf/tool/count/value_json.hpp"

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

}  // namespace karpos::perf
