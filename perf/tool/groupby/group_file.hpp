// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/support/progress.hpp"
#include "perf/tool/groupby/parameters.hpp"

namespace karpos::perf {

/// Reads a table and groups its rows by one or several columns, which are compared as in a join.
/// All rows are held in memory.
/// Throws: bad_input, graph_file_error that name file, line and column; allocation_error.
file_groups group_file(groupby_parameters const& p, reporter const& report);

/// Writes all groups as CSV, with a header.
/// Throws: as output_file::close.
void write_groups(std::string const& path, file_groups const& groups);

}  // namespace karpos::perf
