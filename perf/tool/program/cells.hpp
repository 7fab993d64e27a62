// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// Returns a CSV field, in quotes if needed.
std::string csv_cell(std::string const& text);

/// Prints rows with equally many cells, whose texts come from a file, in columns as wide as their
/// widest cell.
void print_cells(std::vector<std::vector<std::string>> rows);

}  // namespace karpos::perf
