// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// Returns the number of characters of a UTF-8 text.
std::size_t width_of(std::string const& text);

/// Prints rows with equally many cells, whose texts come from a file, in columns as wide as their
/// widest cell. Aligns all columns to the right but `left_column`, a number from 0.
void print_cells(std::vector<std::vector<std::string>> rows,
                 std::size_t left_column = ~std::size_t(0));

}  // namespace karpos::perf
