// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/cells.hpp"

#include <algorithm>
#include <cstdio>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {

std::size_t width_of(std::string const& text) {
  // The first byte of a character is not 10xxxxxx.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

void print_cells(std::vector<std::vector<std::string>> rows, std::size_t left_column) {
  std::vector<std::size_t> width(rows.front().size());
  for (auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = printable(row[c]);
      width[c] = std::max(width[c], width_of(row[c]));
    }
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::string const pad(width[c] - width_of(row[c]), ' ');
      line += "  " + (c == left_column ? row[c] + pad : pad + row[c]);
    }
    std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
  }
}

}  // namespace karpos::perf
