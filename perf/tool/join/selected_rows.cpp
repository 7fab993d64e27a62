// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/join/selected_rows.hpp"

#include <algorithm>

#include "perf/measure/support/output_file.hpp"
#include "perf/tool/program/csv_cell.hpp"

namespace karpos::perf {

std::vector<std::string> const* selected_rows::fields(int s, std::uint64_t i) const {
  row_numbers const& rows = m_sides[s].rows;
  if (rows.extent(0) == 0 || rows(i) == no_row) return nullptr;
  if (rows(i) != m_held[s]) m_sides[s].table->read_row(rows(i), m_fields[s]);
  m_held[s] = rows(i);
  return &m_fields[s];
}

std::vector<std::string const*> selected_rows::row(std::uint64_t i) const {
  auto const* const left = fields(0, i);
  auto const* const right = fields(1, i);
  std::vector<std::string const*> cells;
  cells.reserve(m_columns.size());
  for (column const& c : m_columns) {
    std::string const* cell = nullptr;
    if (left != nullptr && c.left != no_column)
      cell = &(*left)[c.left];
    else if (right != nullptr && c.right != no_column)
      cell = &(*right)[c.right];
    cells.push_back(cell == nullptr || cell->empty() ? nullptr : cell);
  }
  return cells;
}

std::vector<std::vector<std::string>> first_rows(selected_rows const& rows, std::size_t most) {
  std::vector<std::vector<std::string>> table(1);
  for (auto const& c : rows.columns()) table[0].push_back(c.name);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(most, rows.size()); ++i) {
    table.emplace_back();
    for (std::string const* cell : rows.row(i))
      table.back().push_back(cell == nullptr ? "" : *cell);
  }
  return table;
}

void write_rows(std::string const& path, selected_rows const& rows) {
  output_file file(path);
  std::string line;
  for (auto const& c : rows.columns()) line += (line.empty() ? "" : ",") + csv_cell(c.name);
  file.write(line + '\n');
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    auto const cells = rows.row(i);
    line.clear();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line += ',';
      if (cells[c] != nullptr) line += csv_cell(*cells[c]);
    }
    // An empty line would not be a row.
    file.write((line.empty() ? "\"\"" : line) + '\n');
  }
  file.close();
}

}  // namespace karpos::perf
