// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/map_report.hpp"

#include <cstdio>

#include "perf/measure/support/text.hpp"
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

void print_machine(int repetitions, std::vector<ceiling> const& ceilings) {
  std::printf("%s\n", run_description(repetitions).c_str());
  std::printf("\nceilings over as much memory\n");
  for (ceiling const& c : ceilings)
    std::printf("  %s %s %s GB/s   %d bytes each, %s\n", left(c.name, 12).c_str(),
                c.name == "copy" ? "           "
                                 : (right(three_digits(c.rate() * 1e-9), 7) + " G/s").c_str(),
                right(three_digits(c.bytes_per_second() * 1e-9), 7).c_str(), c.bytes_each,
                c.variant.c_str());
}

}  // namespace karpos::perf
