// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "perf/driver/groupby/number_column.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

/// What the numbers of each group come to. Sums of integers are wide, since 64 bits may not hold them; those of doubles are
/// reproducible.
template <class T, class Sum>
struct column_groups {
  std::vector<Sum> sum;
  std::vector<T> least, largest;
};
using integer_groups = column_groups<std::int64_t, wide_sum>;
using real_groups = column_groups<double, double>;

/// Rows grouped by their keys, on the device. Results are ordered by key, from the smallest on.
class grouping {
 public:
  explicit grouping(std::vector<std::uint64_t> const& keys);

  std::vector<std::uint64_t> const& keys() const { return m_keys; }
  std::vector<std::uint64_t> const& counts() const { return m_counts; }

  /// Reduce a column: its integers, if it is exact, or its doubles.
  integer_groups integers(number_column const& column) const;
  real_groups reals(number_column const& column) const;

 private:
  template <class T, class Plus>
  column_groups<T, T> reduced(std::vector<T> const& values, Plus const& plus) const;
  std::vector<wide_sum> sums_of_halves(std::vector<std::int64_t> const& x) const;
  template <class T>
  std::vector<T> in_order(array<std::uint64_t> const& keys, array<T> const& values) const;

  space m_exec;
  array<std::uint64_t const> m_of_rows;
  std::vector<std::uint64_t> m_keys, m_counts;
};

}  // namespace karpos::perf
