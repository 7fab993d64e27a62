// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "perf/measure/support/space.hpp"
#include "perf/tool/groupby/number_column.hpp"
#include "perf/tool/join/row_keys.hpp"

namespace karpos::perf {

/// The reductions of a column for each group. Sums of integers are wide, since 64 bits may not hold
/// them. Sums of doubles are reproducible.
template <class T, class Sum>
struct column_groups {
  std::vector<Sum> sum;
  std::vector<T> least, largest;
};
using integer_groups = column_groups<std::int64_t, wide_sum>;
using real_groups = column_groups<double, double>;

using group_counts = std::vector<std::uint64_t>;

/// Rows grouped by their keys, on the device. Results are in the order of the first rows of the
/// groups.
class grouping {
 public:
  explicit grouping(row_keys const& keys);

  std::vector<std::uint64_t> const& first_rows() const { return m_first_rows; }
  group_counts const& counts() const { return m_counts; }
  /// Returns for each group the number of rows that have a number in a column.
  group_counts counts_of(number_column const& column) const;

  /// Reduce a column: as integers if it is exact, else as doubles. The result of a group without a
  /// number is undefined.
  integer_groups integers(number_column const& column) const;
  real_groups reals(number_column const& column) const;

 private:
  using words = std::vector<std::uint64_t>;

  group_counts counts_of(words const& rows) const;
  words const& rows_with_numbers(number_column const& column, words& kept) const;
  template <class T, class Plus>
  column_groups<T, T> reduced(words const& rows, std::vector<T> const& values,
                              Plus const& plus) const;
  std::vector<wide_sum> sums_of_halves(words const& rows, std::vector<std::int64_t> const& x) const;
  template <class T>
  std::vector<T> in_order(std::uint64_t n, array<std::uint64_t> const& groups,
                          array<T> const& values) const;

  space m_exec;
  // For each row: a word of its group's key.
  words m_group_of;
  std::vector<std::pair<std::uint64_t, std::size_t>> m_places;  // of groups, ordered by their words
  std::vector<std::uint64_t> m_first_rows;
  group_counts m_counts;
};

}  // namespace karpos::perf
