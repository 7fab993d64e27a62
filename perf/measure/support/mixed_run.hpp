// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "perf/measure/support/map_run.hpp"
#include "perf/measure/support/outcome_counts.hpp"

namespace karpos::perf {

/// Percentages of the kinds of operations.
struct operation_mix {
  unsigned insert = 20, erase = 20, find = 60;

  std::string text() const;  ///< "20,20,60"
};

/// Parses 20,20,60. Throws std::invalid_argument that quotes the text.
operation_mix parse_mix(std::string const& text);

/// Parameters of `karpos mixed`. `keys` is the size of the universe that operations draw their keys
/// from. `load` is that of the table when only the pre-filled keys are stored; if `slots` are
/// given, it is the load at the largest number of keys that the map is made for.
struct mixed_parameters : map_parameters {
  mixed_parameters() { load = 0.8; }

  std::uint64_t operations = 1 << 24;
  operation_mix mix;
  /// Insertions of one key beside each erasure of another, instead of the mix; 0: the mix. The
  /// first half of the keys is stored and erased, the other half inserted.
  std::uint64_t copies = 0;
  double fill = 0.5;        ///< fraction of the universe that is stored beforehand
  std::uint64_t slots = 0;  ///< slots of the table; 0: as many as the load asks for
};

/// Sizes that follow from the parameters.
struct mixed_sizes {
  std::uint64_t filled = 0;    ///< keys that are stored beforehand
  std::uint64_t max_keys = 0;  ///< keys that the maps are made for
  std::uint64_t slots = 0;     ///< slots asked for; a map may round up

  double load() const { return static_cast<double>(filled) / static_cast<double>(slots); }
};

/// Returns the operations that p.copies insertions of each key, and an erasure, make.
inline std::uint64_t operations_by_copies(mixed_parameters const& p) {
  return p.keys / 2 * (p.copies + 1);
}

/// Computes the sizes. Throws std::invalid_argument if the load is all that is given and no key is
/// pre-filled, or if more keys are pre-filled than the table is made for.
mixed_sizes sizes_of(mixed_parameters const& p);

/// The errors that verification found, over all repetitions.
struct mixed_defects {
  std::uint64_t outcomes = 0;  ///< results that no order of the operations explains
  std::uint64_t values = 0;    ///< results whose value does not belong to the key
  std::uint64_t before = 0;    ///< keys that were not pre-filled correctly
  /// Keys whose insertions and erasures do not add up to their final state.
  std::uint64_t after = 0;
  std::uint64_t size = 0;  ///< differences between size() and the correct number of keys

  std::uint64_t sum() const { return outcomes + values + before + after + size; }
};

/// The mixed operations of one map.
struct mixed_result : map_timing {
  double read_rate = 0, cas_rate = 0;  ///< operations per second of the ceilings
  outcome_counts outcomes;             ///< of the last repetition
  mixed_defects defects;

  double of_read() const { return rate() / read_rate; }
  double of_cas() const { return rate() / cas_rate; }
};

struct mixed_run : map_run<mixed_parameters, mixed_result> {
  mixed_sizes sizes;
};

/// Measures the ceilings over as much memory as the first map takes, then operations of all kinds
/// running concurrently on every map, and verifies all results. Calls `report(part, what)` as the
/// work progresses.
mixed_run run_mixed(mixed_parameters const& p, reporter const& report);

}  // namespace karpos::perf
