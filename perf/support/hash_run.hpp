// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf/subjects/fact.hpp"
#include "perf/support/energy.hpp"
#include "perf/support/map_run.hpp"

namespace karpos::perf {

/// What `karpos hash` and the scripts may vary.
struct hash_parameters : map_parameters {
  double miss = 0.5;  ///< part of the mixed queries that asks for absent keys
  std::string input =
      "device";  ///< where keys, values and answers lie: device, host, pinned, shared
  std::uint64_t multiplicity = 0;  ///< pairs of a key of a multimap (multi_run.hpp); 0: keys differ
  std::vector<int> widths;         ///< with a multiplicity: lanes that look up one query together
  bool energy = false;             ///< of find hits
};

/// One operation of one map.
struct hash_result : map_timing {
  std::string bound;                 ///< name of the ceiling it is held against
  double bound_rate = 0;             ///< operations per second of that ceiling
  std::vector<fact> facts;           ///< of an insertion: what the map tells after the last one
  std::optional<energy_use> energy;  ///< a round is the operation once

  double ratio() const { return rate() / bound_rate; }
};

struct hash_run : map_run<hash_parameters, hash_result> {
  bool heeds_load = true;  ///< whether the first map takes the load asked for
};

/// Measures the ceilings over as much memory as the first map takes, then insert, find (hits, misses, mixed) and
/// erase, if it can, of every map, and verifies all answers. `report(part, what)` is told the progress. Input that does not
/// lie on the device: run_hash_from_host (hash_input.hpp).
hash_run run_hash(hash_parameters const& p, reporter const& report);

}  // namespace karpos::perf
