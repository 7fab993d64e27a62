// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "karpos/join.hpp"
#include "perf/driver/join/join_spec.hpp"
#include "perf/support/context.hpp"
#include "perf/support/map_run.hpp"

namespace karpos::perf {

/// What `karpos join` may vary of tables that are made.
struct join_measure_parameters {
  join_spec tables;
  std::string how = "inner";
  int key_bytes = 4;
  int repetitions = 5;
  bool with_sort = false;
};

/// One phase of one way to join.
struct join_result {
  std::string name;         ///< karpos, or sort
  std::string phase;        ///< index, match, write; all: the three of them
  std::uint64_t bytes = 0;  ///< of keys that are read, of row numbers that are written
  samples time;
};

struct join_run {
  join_measure_parameters parameters;
  std::uint64_t size = 0;
  std::size_t index_bytes = 0, build_bytes = 0, match_bytes = 0;
  ceiling copy;
  std::vector<join_result> results;
  std::uint64_t wrong = 0;  ///< rows, of all joins

  double of_copy(join_result const& r) const {
    return static_cast<double>(r.bytes) / r.time.median() / copy.bytes_per_second();
  }
  /// Rows of both tables a second.
  double rate(join_result const& r) const {
    return static_cast<double>(parameters.tables.left + parameters.tables.right) / r.time.median();
  }
  /// Time of a peer by ours at the same phase.
  double lead_over(join_result const& peer) const {
    for (join_result const& r : results)
      if (r.name == "karpos" && r.phase == peer.phase) return peer.time.median() / r.time.median();
    return 0;
  }
};

/// Makes the tables, joins them and checks every result.
join_run run_join(join_measure_parameters const& p, reporter const& report);

/// The part of it that depends on the type of keys; in a file of its own each, since its kernels take long to compile.
template <class Key>
join_run measure_join(join_measure_parameters const& p, reporter const& report);

extern template join_run measure_join<std::uint32_t>(join_measure_parameters const&,
                                                     reporter const&);
extern template join_run measure_join<std::uint64_t>(join_measure_parameters const&,
                                                     reporter const&);

json to_json(join_run const& run);
void print(join_run const& run);

}  // namespace karpos::perf
