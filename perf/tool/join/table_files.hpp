// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/join/parameters.hpp"
#include "perf/tool/join/selected_rows.hpp"
#include "perf/tool/join/text_table.hpp"

namespace karpos::perf {

/// The join of two tables in files.
struct joined_files {
  std::unique_ptr<text_table> left, right;
  std::vector<comparison> compared;               ///< of each key pair
  std::uint64_t left_nulls = 0, right_nulls = 0;  ///< rows with an empty key
  std::uint64_t size = 0;
  double memory_bytes = 0;  ///< estimate, without the text and the join's rows
  selected_rows rows;
  double seconds = 0, index_seconds = 0, match_seconds = 0, write_seconds = 0;
};

/// Reads both tables and joins them by equal keys; rows with an empty key match nothing. All rows
/// are held in memory.
/// Throws: bad_input, graph_file_error that name file and line; allocation_error, before reading if
/// the lack of memory can be estimated.
joined_files join_files(join_parameters const& p, reporter const& report);

/// The distinct rows of some columns of a table.
struct distinct_file {
  std::unique_ptr<text_table> table;
  std::uint64_t size = 0;
  std::vector<comparison> compared;  ///< of each column
  selected_rows rows;                ///< in the order of their first occurrence
  double seconds = 0, distinct_seconds = 0;
};

/// Reads a table and finds its distinct rows. Empty fields are equal to each other.
distinct_file find_distinct(distinct_parameters const& p, reporter const& report);

}  // namespace karpos::perf
