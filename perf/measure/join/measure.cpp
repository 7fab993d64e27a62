// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/join/measure.hpp"

#include <algorithm>

#include "perf/measure/subjects/sort_join.hpp"
#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/host_memory.hpp"

namespace karpos::perf {
namespace {

/// Returns the expected number of rows of a join of such tables.
double expected_rows(join_spec const& t, join_kind kind) {
  auto const left = static_cast<double>(t.left), right = static_cast<double>(t.right);
  double const matched = left * t.match;
  double const pairs = matched * static_cast<double>(std::min(t.multiplicity, t.right));
  bool const all_left = kind == join_kind::left || kind == join_kind::full;
  double rows = 0;
  if (kind <= join_kind::full) rows = pairs + (all_left ? left - matched : 0);
  if (kind == join_kind::left_semi) rows = matched;
  if (kind == join_kind::left_anti) rows = left - matched;
  if (kind >= join_kind::right_semi) rows = right / 2;
  return rows;
}

/// Returns the bytes of the keys and of what checks the rows, of the index and its build, of the
/// join and its rows, or of partitions, and of the sort if it is measured.
double bytes_for(join_measure_parameters const& p) {
  auto const left = static_cast<double>(p.tables.left), right = static_cast<double>(p.tables.right);
  double const rows = expected_rows(p.tables, join_kind_of(p.how));
  double const names = p.names ? (left + right) * 32 : 0;  // two offsets, 16 bytes at most
  double const kept = (left + right) * p.key_bytes + left * 16 + right * 8 + rows / 8 + names;
  double const once = (left + right) * 4 * p.key_bytes;
  double const joined = std::max(right * 48 + left * 12, once) + rows * 8;
  double const sorted = (left + right) * (p.key_bytes + 12) + rows * 16;
  return kept + joined + (p.with_sort ? sorted : 0);
}

}  // namespace

join_run run_join(join_measure_parameters const& p, reporter const& report) {
  if (p.names && (p.with_sort || p.key_bytes != 4))
    throw bad_input("names are measured without --peers, and made of keys of 4 bytes");
  if (p.with_sort && make_sort_join<std::uint32_t> == nullptr)
    throw bad_input("--peers sort: this build has no sort to measure; leave it out");
  if constexpr (on_host)
    require_memory(bytes_for(p), "a measurement of such tables",
                   "ask for fewer rows (left=, right=), or a smaller multiplicity=");
  if (p.names) return measure_join<table_of_names>(p, report);
  if (p.key_bytes == 8) return measure_join<table_of_keys<std::uint64_t>>(p, report);
  return measure_join<table_of_keys<std::uint32_t>>(p, report);
}

}  // namespace karpos::perf
