// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "perf/ceilings.hpp"
#include "perf/support/space.hpp"
#include "perf/support/statistics.hpp"

// What the measurements of maps have in common: `karpos hash` and `karpos mixed`.

namespace karpos::perf {

/// Is told which part of the work is done, in [0, 1], and what comes next.
using reporter = std::function<void(double, std::string const&)>;

struct map_parameters {
  std::uint64_t keys = 1 << 24;
  double load = 0.5;
  int key_bytes = 4;  ///< values are as wide
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> maps = {"hash"};  ///< ids of subjects, the reference first
};

/// How long one operation of one map took.
struct map_timing {
  std::string map, operation;
  int threads = 0;
  std::uint64_t operations = 0;
  int bytes_each = 0;       ///< key plus value
  std::uint64_t wrong = 0;  ///< answers that were not as they must be
  samples time;

  double rate() const { return static_cast<double>(operations) / time.median(); }
};

/// Parameters are map_parameters, results map_timings, or derived from them.
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
  /// Operations per second of a ceiling; 0 if it was not measured.
  double ceiling_rate(std::string const& name) const {
    for (ceiling const& c : ceilings)
      if (c.name == name) return c.rate();
    return 0;
  }
  /// Rate of the first map at the same operation over this one's; 0 if it has no such operation.
  double lead_over(Result const& r) const {
    for (Result const& first : results)
      if (first.map == results.front().map && first.operation == r.operation)
        return first.rate() / r.rate();
    return 0;
  }
};

}  // namespace karpos::perf
