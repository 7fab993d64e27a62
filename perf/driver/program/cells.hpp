// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// A field of CSV: in quotes where it needs them.
std::string csv_cell(std::string const& text);

/// Prints rows of as many cells each, text of a file, in columns as wide as their widest cell.
void print_cells(std::vector<std::vector<std::string>> rows);

}  // namespace karpos::perf
