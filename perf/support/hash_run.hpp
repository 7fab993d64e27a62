// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "perf/ceilings.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

/// What `karpos hash` and the scripts may vary.
struct hash_parameters {
  std::uint64_t keys = 1 << 24;
  double load = 0.5;
  double miss = 0.5;  ///< part of the mixed queries that asks for absent keys
  int key_bytes = 4;  ///< values are as wide
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> maps = {"hash"};  ///< ids of subjects, the reference first
};

/// One operation of one map.
struct hash_result {
  std::string map, operation;
  int threads = 0;
  std::string bound;      ///< name of the ceiling it is held against
  double bound_rate = 0;  ///< operations per second of that ceiling
  std::uint64_t operations = 0;
  int bytes_each = 0;       ///< key plus value
  std::uint64_t wrong = 0;  ///< answers that were not as they must be
  samples time;

  double rate() const { return static_cast<double>(operations) / time.median(); }
  double ratio() const { return rate() / bound_rate; }
};

struct hash_run {
  hash_parameters parameters;
  std::size_t table_bytes = 0;
  std::vector<ceiling> ceilings;
  std::vector<hash_result> results;

  std::uint64_t wrong() const {
    std::uint64_t sum = 0;
    for (hash_result const& r : results) sum += r.wrong;
    return sum;
  }
};

/// Measures the ceilings over as much memory as the first map takes, then insert, find (hits, misses,
/// mixed) and erase of every map, and verifies all answers. `report(part, what)` is told the progress.
hash_run run_hash(hash_parameters const& p,
                  std::function<void(double, std::string const&)> const& report);

}  // namespace karpos::perf
