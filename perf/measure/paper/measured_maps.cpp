// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/measured_maps.hpp"

#include <cstdint>
#include <map>
#include <tuple>

namespace karpos::perf::paper {

hash_run measured_maps(std::vector<std::string> const& maps, double keys, double load,
                       scale const& s, reporter const& report) {
  static std::map<std::tuple<std::vector<std::string>, double, double>, hash_run> runs;
  auto const known = runs.find({maps, keys, load});
  if (known != runs.end()) return known->second;
  hash_parameters p;
  p.keys = static_cast<std::uint64_t>(keys);
  p.load = load;
  p.repetitions = s.quick ? 3 : s.repetitions();
  p.maps = maps;
  return runs[{maps, keys, load}] = run_hash(p, report);
}

}  // namespace karpos::perf::paper
