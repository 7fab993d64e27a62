// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/map_json.hpp"

#include "perf/measure/support/timer.hpp"

namespace karpos::perf {

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

json timing_json(map_timing const& r, json const& own) {
  json j = {{"map", r.map},
            {"operation", r.operation},
            {"threads", r.threads},
            {"operations", r.operations},
            {"bytes_each", r.bytes_each},
            {"rate", r.rate()}};
  j.update(own);
  j.update({{"wrong", r.wrong}, {"seconds", to_json(r.time)}});
  return j;
}

json parameters_json(map_parameters const& p, std::size_t table_bytes, json const& own) {
  json j = {{"keys", p.keys}, {"load", p.load}};
  j.update(own);
  j.update({{"key_bytes", p.key_bytes},
            {"repetitions", p.repetitions},
            {"seed", p.seed},
            {"maps", p.maps},
            {"table_bytes", table_bytes},
            {"timing", timer<space>::method()}});
  return j;
}

}  // namespace karpos::perf
