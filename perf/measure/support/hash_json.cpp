// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/hash_json.hpp"

#include "perf/measure/support/energy_report.hpp"
#include "perf/measure/support/map_json.hpp"

namespace karpos::perf {
namespace {

json to_json(std::vector<fact> const& facts) {
  json j = json::object();
  for (fact const& f : facts) std::visit([&](auto value) { j[f.name] = value; }, f.value);
  return j;
}

json to_json(hash_result const& r) {
  json own = {{"ceiling", r.bound}, {"of_ceiling", r.ratio()}};
  if (!r.facts.empty()) own["facts"] = to_json(r.facts);
  if (r.energy) {
    json& e = own["energy"] = to_json(*r.energy);
    auto const all = static_cast<double>(r.energy->rounds * r.operations);
    if (r.energy->is_measured()) e["nanojoules_each"] = 1e9 * r.energy->joules() / all;
  }
  return timing_json(r, own);
}

}  // namespace

json to_json(hash_run const& run) {
  hash_parameters const& p = run.parameters;
  json own = {{"miss", p.miss}};
  if (p.input != "device") own["input"] = p.input;
  if (p.multiplicity > 0) own["multiplicity"] = p.multiplicity;
  if (!p.widths.empty()) own["widths"] = p.widths;
  return run_json("karpos-hash-1", run, parameters_json(p, run.table_bytes, own),
                  [](hash_result const& r) { return to_json(r); });
}

}  // namespace karpos::perf
