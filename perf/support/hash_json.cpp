// SPDX-License-Identifier: Apache-2.0
#include "perf/support/hash_json.hpp"

#include <nlohmann/json.hpp>

namespace karpos::perf {
namespace {

json to_json(samples const& s) {
  return {{"median", s.median()},
          {"low", s.low()},
          {"high", s.high()},
          {"batch", s.batch},
          {"all", s.seconds}};
}

json to_json(ceiling const& c) {
  return {{"name", c.name},
          {"variant", c.variant},
          {"operations", c.operations},
          {"bytes_each", c.bytes_each},
          {"rate", c.rate()},
          {"seconds", to_json(c.time)}};
}

json to_json(hash_result const& r) {
  return {{"map", r.map},
          {"operation", r.operation},
          {"threads", r.threads},
          {"operations", r.operations},
          {"bytes_each", r.bytes_each},
          {"rate", r.rate()},
          {"ceiling", r.bound},
          {"of_ceiling", r.ratio()},
          {"wrong", r.wrong},
          {"seconds", to_json(r.time)}};
}

}  // namespace

json to_json(hash_run const& run) {
  hash_parameters const& p = run.parameters;
  json ceilings = json::array(), results = json::array();
  for (ceiling const& c : run.ceilings) ceilings.push_back(to_json(c));
  for (hash_result const& r : run.results) results.push_back(to_json(r));
  return {{"format", "karpos-hash-1"},
          {"context", context()},
          {"parameters",
           {{"keys", p.keys},
            {"load", p.load},
            {"miss", p.miss},
            {"key_bytes", p.key_bytes},
            {"repetitions", p.repetitions},
            {"seed", p.seed},
            {"maps", p.maps},
            {"table_bytes", run.table_bytes},
            {"timing", timer<space>::method()}}},
          {"ceilings", ceilings},
          {"results", results}};
}

}  // namespace karpos::perf
