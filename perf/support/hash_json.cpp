// SPDX-License-Identifier: Apache-2.0
#include "perf/support/hash_json.hpp"

#include "perf/support/map_json.hpp"

namespace karpos::perf {

json to_json(hash_run const& run) {
  hash_parameters const& p = run.parameters;
  return run_json("karpos-hash-1", run, parameters_json(p, run.table_bytes, {{"miss", p.miss}}),
                  [](hash_result const& r) {
                    return timing_json(r, {{"ceiling", r.bound}, {"of_ceiling", r.ratio()}});
                  });
}

}  // namespace karpos::perf
