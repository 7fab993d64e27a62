// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "perf/driver/join/text_table.hpp"

namespace karpos::perf {

/// Rows that are made of those of one table, or of pairs of those of two.
class selected_rows {
 public:
  using row_numbers = Kokkos::View<std::uint32_t*, Kokkos::HostSpace>;
  static constexpr std::uint32_t no_row = ~std::uint32_t(0);
  static constexpr std::size_t no_column = ~std::size_t(0);

  /// A column of the result: what stands there in the row of the left table, or, without such a row or column, in that of
  /// the right one.
  struct column {
    std::string name;
    std::size_t left, right;  // from 0
  };

  /// A table whose rows are chosen; one whose rows are not has no numbers.
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
  /// What stands in row i; null where nothing does.
  std::vector<std::string const*> row(std::uint64_t i) const;

 private:
  /// The fields of row i on side s, kept until another row of it is asked for; none: there is no such row.
  std::vector<std::string> const* fields(int s, std::uint64_t i) const;

  std::vector<column> m_columns;
  side m_sides[2];
  mutable std::vector<std::string> m_fields[2];
  mutable std::uint32_t m_held[2] = {no_row, no_row};
};

/// The first rows, as texts; the names of the columns first. Empty: nothing.
std::vector<std::vector<std::string>> first_rows(selected_rows const& rows, std::size_t most);

/// Writes all rows as CSV, with a header; null is an empty field.
/// Throws: std::invalid_argument if the file cannot be written; what was written of it is removed.
void write_rows(std::string const& path, selected_rows const& rows);

}  // namespace karpos::perf
