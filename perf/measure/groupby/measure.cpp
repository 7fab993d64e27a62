// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/groupby/measure.hpp"

#include "perf/measure/subjects/sort_groups.hpp"
#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {

groupby_run run_groupby(groupby_measure_parameters const& p, reporter const& report) {
  if (p.with_sort && make_sort_groups<std::uint32_t> == nullptr)
    throw bad_input("--peers sort: this build has no sort to measure; leave it out");
  // Rows, two copies on the host, the workspace, the results, and the memory of the sort.
  double const row = 2.0 * p.key_bytes;
  if constexpr (on_host)
    require_memory(static_cast<double>(p.rows.rows) * row * (p.with_sort ? 7.5 : 5),
                   "a measurement of these rows", "ask for fewer rows (rows=)");
  if (p.key_bytes == 8) return measure_groupby<std::uint64_t>(p, report);
  return measure_groupby<std::uint32_t>(p, report);
}

}  // namespace karpos::perf
