// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/measure/groupby/row_spec.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/map_run.hpp"

namespace karpos::perf {

/// Parameters of `karpos groupby` for generated rows.
struct groupby_measure_parameters {
  row_spec rows;
  int key_bytes = 4;  ///< values are as wide
  int repetitions = 5;
  bool with_sort = false;
};

/// A measured operation of karpos or of the sort.
struct groupby_result {
  std::string name;       ///< karpos, or sort
  std::string operation;  ///< count, sum
  int bytes_each = 0;     ///< bytes per row that are read
  std::uint64_t wrong = 0;
  samples time;
};

struct groupby_run {
  groupby_measure_parameters parameters;
  std::uint64_t groups = 0;
  std::size_t workspace_bytes = 0;
  ceiling copy;
  std::vector<groupby_result> results;

  double rate(groupby_result const& r) const {
    return static_cast<double>(parameters.rows.rows) / r.time.median();
  }
  double of_copy(groupby_result const& r) const {
    return rate(r) * r.bytes_each / copy.bytes_per_second();
  }
  /// Returns the time of a peer divided by karpos's time for the same operation.
  double speedup_over(groupby_result const& peer) const {
    for (groupby_result const& r : results)
      if (r.name == "karpos" && r.operation == peer.operation)
        return peer.time.median() / r.time.median();
    return 0;
  }
  std::uint64_t wrong() const {
    std::uint64_t sum = 0;
    for (groupby_result const& r : results) sum += r.wrong;
    return sum;
  }
};

/// Generates the rows, counts and sums them by key, and checks every result.
groupby_run run_groupby(groupby_measure_parameters const& p, reporter const& report);

/// Does the part of run_groupby that depends on the type of keys. Each type has a file of its own,
/// since its kernels take long to compile.
template <class Key>
groupby_run measure_groupby(groupby_measure_parameters const& p, reporter const& report);

extern template groupby_run measure_groupby<std::uint32_t>(groupby_measure_parameters const&,
                                                           reporter const&);
extern template groupby_run measure_groupby<std::uint64_t>(groupby_measure_parameters const&,
                                                           reporter const&);

json to_json(groupby_run const& run);
void print(groupby_run const& run);

}  // namespace karpos::perf
