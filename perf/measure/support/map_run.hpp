// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/measure/ceilings.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/statistics.hpp"

// Types that the measurements of maps share: `karpos hash` and `karpos mixed`.

namespace karpos::perf {

struct map_parameters {
  std::uint64_t keys = 1 << 24;
  double load = 0.5;
  int key_bytes = 4;  ///< values are as wide, up to 8 bytes
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> maps = {"hash"};  ///< ids of subjects, the reference first

  int value_bytes() const { return key_bytes == 16 ? 8 : key_bytes; }
};

/// The time of one operation of one map.
struct map_timing {
  std::string map, operation;
  int threads = 0;
  std::uint64_t operations = 0;
  int bytes_each = 0;       ///< key plus value
  std::uint64_t wrong = 0;  ///< wrong answers
  samples time;

  double rate() const { return static_cast<double>(operations) / time.median(); }
};

/// A whole run. Parameters and Result are map_parameters and map_timing, or derived from them.
template <class Parameters, class Result>
struct map_run {
  using parameters_type = Parameters;
  using result_type = Result;

  Parameters parameters;
  std::size_t table_bytes = 0;
  std::vector<ceiling> ceilings;
  std::vector<Result> results;

  std::uint64_t wrong() const {
    std::uint64_t sum = 0;
    for (Result const& r : results) sum += r.wrong;
    return sum;
  }
  /// Returns a ceiling's operations per second, or 0 if it was not measured.
  double ceiling_rate(std::string const& name) const {
    for (ceiling const& c : ceilings)
      if (c.name == name) return c.rate();
    return 0;
  }
  /// Returns the first map's rate at the same operation over the rate of r; 0 if the first map
  /// lacks this operation.
  double speedup_over(Result const& r) const {
    for (Result const& first : results)
      if (first.map == results.front().map && first.operation == r.operation)
        return first.rate() / r.rate();
    return 0;
  }
};

}  // namespace karpos::perf
