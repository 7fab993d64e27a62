// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "karpos/join.hpp"
#include "perf/measure/join/join_spec.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/map_run.hpp"

namespace karpos::perf {

/// Returns the names of the kinds of joins.
std::vector<std::string> join_kind_names();
/// Returns the kind with that name.
join_kind join_kind_of(std::string const& name);

/// Parameters of `karpos join` for generated tables.
struct join_measure_parameters {
  join_spec tables;
  std::string how = "inner";
  int key_bytes = 4;
  /// Whether rows are two columns of strings, first and last names, instead of a key.
  bool names = false;
  int repetitions = 5;
  bool with_sort = false;
};

/// A measured phase of karpos or of the sort.
struct join_result {
  std::string name;   ///< karpos, or sort
  std::string phase;  ///< index, match, write; all: the sum of the three; once: partitioned_join
  std::uint64_t bytes = 0;  ///< bytes of keys read, or of row numbers written
  samples time;
};

struct join_run {
  join_measure_parameters parameters;
  std::uint64_t size = 0;
  std::size_t index_bytes = 0, build_bytes = 0, match_bytes = 0;
  ceiling copy;
  std::vector<join_result> results;
  std::uint64_t wrong = 0;  ///< wrong rows of all joins

  double of_copy(join_result const& r) const {
    return static_cast<double>(r.bytes) / r.time.median() / copy.bytes_per_second();
  }
  /// Returns rows of both tables per second.
  double rate(join_result const& r) const {
    return static_cast<double>(parameters.tables.left + parameters.tables.right) / r.time.median();
  }
  /// Returns the time of a peer divided by karpos's time for the same phase.
  double speedup_over(join_result const& peer) const {
    for (join_result const& r : results)
      if (r.name == "karpos" && r.phase == peer.phase) return peer.time.median() / r.time.median();
    return 0;
  }
};

/// Generates the tables, joins them, and checks every result.
join_run run_join(join_measure_parameters const& p, reporter const& report);

/// Does the part of run_join that depends on the type of tables (measurement.hpp). Each type has a
/// file of its own, since its kernels take long to compile.
template <class Table>
join_run measure_join(join_measure_parameters const& p, reporter const& report);

template <class Key>
struct table_of_keys;
struct table_of_names;
extern template join_run measure_join<table_of_keys<std::uint32_t>>(join_measure_parameters const&,
                                                                    reporter const&);
extern template join_run measure_join<table_of_keys<std::uint64_t>>(join_measure_parameters const&,
                                                                    reporter const&);
extern template join_run measure_join<table_of_names>(join_measure_parameters const&,
                                                      reporter const&);

json to_json(join_run const& run);
void print(join_run const& run);

}  // namespace karpos::perf
