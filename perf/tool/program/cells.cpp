// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/program/cells.hpp"

#include <algorithm>
#include <cstdio>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

/// Counts the characters of a UTF-8 text: continuation bytes take no column.
std::size_t letters(std::string const& s) {
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string csv_cell(std::string const& text) {
  bool const plain = text.find_first_of(",;\"\n\r\t ") == std::string::npos && !text.empty() &&
                     text.front() != '#' && text.front() != '%';
  if (plain) return text;
  std::string quoted = "\"";
  for (char const c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void print_cells(std::vector<std::vector<std::string>> rows) {
  std::vector<std::size_t> width(rows.front().size());
  for (auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = printable(row[c]);
      width[c] = std::max(width[c], letters(row[c]));
    }
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += "  " + std::string(width[c] - letters(row[c]), ' ') + row[c];
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace karpos::perf
