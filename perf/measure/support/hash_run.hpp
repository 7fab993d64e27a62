// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf/measure/subjects/fact.hpp"
#include "perf/measure/support/energy.hpp"
#include "perf/measure/support/map_run.hpp"

namespace karpos::perf {

/// Parameters of `karpos hash` and of the scripts.
struct hash_parameters : map_parameters {
  double miss = 0.5;  ///< fraction of the mixed queries that ask for absent keys
  std::string input =
      "device";  ///< memory of keys, values and answers: device, host, pinned, shared
  /// Pairs per key of a multimap (multi_run.hpp); 0: keys are distinct.
  std::uint64_t multiplicity = 0;
  /// Lanes that work on one key together, in kernels: of a map (width_run.hpp), or with a
  /// multiplicity of a multimap.
  std::vector<int> widths;
  bool energy = false;  ///< measure the energy of find hits
};

/// One operation of one map.
struct hash_result : map_timing {
  std::string bound;                 ///< name of the ceiling that it is compared with
  double bound_rate = 0;             ///< operations per second of that ceiling
  std::vector<fact> facts;           ///< of an insertion: the map's facts after the last one
  std::optional<energy_use> energy;  ///< one round is one execution of the operation

  double ratio() const { return rate() / bound_rate; }
};

struct hash_run : map_run<hash_parameters, hash_result> {
  bool supports_load = true;  ///< whether the first map has the load asked for
};

/// Measures the ceilings over as much memory as the first map takes, then insert, find (hits,
/// misses, mixed) and, if the map can, erase of every map, and verifies all answers. Calls
/// `report(part, what)` as the work progresses. Input that does not lie on the device is left to
/// run_hash_from_host (hash_input.hpp), a multiplicity to run_multi (multi_run.hpp), keys of 16
/// bytes to run_16_byte_keys (key16_run.hpp).
hash_run run_hash(hash_parameters const& p, reporter const& report);

}  // namespace karpos::perf
