// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/mixed_json.hpp"

#include "perf/measure/support/map_json.hpp"

namespace karpos::perf {
namespace {

json to_json(mixed_result const& r) {
  json outcomes = json::object();
  for (int k = 0; k < outcome_counts::kinds; ++k)
    outcomes[outcome_counts::names[k]] = r.outcomes.count[k];
  mixed_defects const& d = r.defects;
  return timing_json(r, {{"of_random_read", r.of_read()},
                         {"of_random_cas", r.of_cas()},
                         {"outcomes", outcomes},
                         {"defects",
                          {{"outcomes", d.outcomes},
                           {"values", d.values},
                           {"before", d.before},
                           {"after", d.after},
                           {"size", d.size}}}});
}

}  // namespace

json to_json(mixed_run const& run) {
  mixed_parameters const& p = run.parameters;
  json const own = {{"operations", p.operations},
                    {"mix", {p.mix.insert, p.mix.erase, p.mix.find}},
                    {"fill", p.fill},
                    {"filled", run.sizes.filled},
                    {"filled_load", run.sizes.load()},
                    {"max_keys", run.sizes.max_keys},
                    {"slots", run.sizes.slots}};
  return run_json("karpos-mixed-1", run, parameters_json(p, run.table_bytes, own),
                  [](mixed_result const& r) { return to_json(r); });
}

}  // namespace karpos::perf
