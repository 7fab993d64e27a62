// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "perf/tool/join/text_table.hpp"

namespace karpos::perf {

/// Rows that consist of cells of one table's rows, or of pairs of rows of two tables.
class selected_rows {
 public:
  using row_numbers = Kokkos::View<std::uint32_t*, Kokkos::HostSpace>;
  static constexpr std::uint32_t no_row = ~std::uint32_t(0);
  static constexpr std::size_t no_column = ~std::size_t(0);

  /// A column of the result: its value is that of column `left` of the left row, or, if there is no
  /// such row or column, of column `right` of the right row.
  struct column {
    std::string name;
    std::size_t left, right;  // from 0
  };

  /// A table and the rows of it that are selected; `rows` is empty for a table without selected
  /// rows.
  struct side {
    text_table const* table = nullptr;
    row_numbers rows;
  };

  selected_rows() = default;
  selected_rows(std::vector<column> columns, side left, side right)
      : m_columns(std::move(columns)),
        m_sides{std::move(left), std::move(right)} {}

  std::uint64_t size() const {
    return m_sides[0].rows.extent(0) > 0 ? m_sides[0].rows.extent(0) : m_sides[1].rows.extent(0);
  }
  std::vector<column> const& columns() const { return m_columns; }
  /// Returns the cells of row i; null for empty ones.
  std::vector<std::string const*> row(std::uint64_t i) const;

 private:
  /// Returns the fields of row i on side s, or null if there is no such row. They are kept until
  /// another row is requested.
  std::vector<std::string> const* fields(int s, std::uint64_t i) const;

  std::vector<column> m_columns;
  side m_sides[2];
  mutable std::vector<std::string> m_fields[2];
  mutable std::uint32_t m_held[2] = {no_row, no_row};
};

/// Returns the names of the columns, then the first rows, as texts. Null becomes an empty text.
std::vector<std::vector<std::string>> first_rows(selected_rows const& rows, std::size_t most);

/// Writes all rows as CSV, with a header; null becomes an empty field.
/// Throws: as output_file::close.
void write_rows(std::string const& path, selected_rows const& rows);

}  // namespace karpos::perf
