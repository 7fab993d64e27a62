// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/count/table_format.hpp"

namespace karpos::perf {

/// Parameters of `karpos groupby` for a file.
struct groupby_parameters {
  std::string file, output;
  std::vector<std::string> by;                   ///< the key columns
  std::vector<std::string> sum, min, max, mean;  ///< columns of numbers
  format_settings format;
  bool skip_nulls =
      false;  ///< skip empty cells and NaNs in columns of numbers, instead of refusing them
  std::size_t top = 10;
};

/// The values of an operation on a column, one for each group.
struct group_values {
  std::string operation;   ///< sum, min, max, mean
  std::size_t column = 0;  ///< from 0
  std::string name;        ///< "sum of sales"
  bool exact = true;       ///< integers, whose last `places` digits are after the point
  int places = 0;
  std::uint64_t nulls = 0;  ///< cells of the column that were skipped
  std::vector<bool> none;   ///< for each group: it has no number, and so no value
  std::vector<std::int64_t> integers;
  std::vector<double> reals;

  /// Returns the value as a CSV cell; empty if the group has none.
  std::string text(std::size_t group) const;
  double value(std::size_t group) const;
  /// Compares two groups by their values. A group without a value precedes all others.
  bool less(std::size_t a, std::size_t b) const;
};

/// The groups of a file, ordered by key.
struct file_groups {
  std::vector<std::string> header;   ///< names of all columns; empty without a header
  std::vector<std::size_t> by;       ///< key columns, from 0
  std::vector<std::string> by_name;  ///< names of the key columns
  std::vector<comparison> compared;  ///< comparisons of the key columns
  std::uint64_t lines = 0;
  std::vector<std::vector<std::string>> keys;  ///< for each group, a text for each key column
  std::vector<std::uint64_t> counts;
  std::vector<group_values> values;
  std::vector<std::size_t> top;  ///< the groups with the largest first sum, or count
  double seconds = 0, grouping_seconds = 0;

  std::size_t size() const { return counts.size(); }
};

}  // namespace karpos::perf
