// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "perf/support/map_run.hpp"
#include "perf/support/outcome_counts.hpp"

namespace karpos::perf {

/// How many of a hundred operations are of each kind.
struct operation_mix {
  unsigned insert = 20, erase = 20, find = 60;

  std::string text() const;  ///< "20,20,60"
};

/// Reads 20,20,60. Throws std::invalid_argument that quotes the text.
operation_mix parse_mix(std::string const& text);

/// What `karpos mixed` may vary. Keys are those of the universe that operations draw from; the load is that of
/// the table with the pre-filled keys in, unless slots are given.
struct mixed_parameters : map_parameters {
  mixed_parameters() { load = 0.8; }

  std::uint64_t operations = 1 << 24;
  operation_mix mix;
  double fill = 0.5;        ///< part of the universe that is in before
  std::uint64_t slots = 0;  ///< of the table; 0: as many as the load asks for
};

/// Sizes that follow from the parameters.
struct mixed_sizes {
  std::uint64_t filled = 0;    ///< keys that are in before
  std::uint64_t max_keys = 0;  ///< that maps are made for
  std::uint64_t slots = 0;     ///< so many are asked for; a map may round up

  double load() const { return static_cast<double>(filled) / static_cast<double>(slots); }
};

/// Throws std::invalid_argument when the keys to fill in are none, or more than the table is made for.
mixed_sizes sizes_of(mixed_parameters const& p);

/// What verification found, over all repetitions.
struct mixed_defects {
  std::uint64_t outcomes = 0;  ///< results that no order of the operations explains
  std::uint64_t values = 0;    ///< results with a value that is not the key's
  std::uint64_t before = 0;    ///< keys that were not filled in as asked
  std::uint64_t after = 0;     ///< keys that insertions and erasures do not add up for
  std::uint64_t size = 0;      ///< keys by which size() is off

  std::uint64_t sum() const { return outcomes + values + before + after + size; }
};

/// All operations of one map.
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

/// Measures the ceilings over as much memory as the first map takes, then operations of all kinds at once on
/// every map, and verifies all results. `report(part, what)` is told the progress.
mixed_run run_mixed(mixed_parameters const& p, reporter const& report);

}  // namespace karpos::perf
