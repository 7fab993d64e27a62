// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace karpos::perf {

/// The rows of a table, one after another, with a separator that is detected as in `karpos count`.
/// A field in quotes may contain separators, line ends, and doubled quotes. Empty lines and a byte
/// order mark are skipped; # does not begin a comment. Errors throw a std::invalid_argument that
/// names file, line and column.
class csv_rows {
 public:
  csv_rows(std::string_view text, std::string name);

  /// Moves to the next row. Returns whether there is one.
  bool next();

  std::size_t size() const { return m_size; }
  std::string const& operator[](std::size_t column) const { return m_fields[column]; }
  std::uint64_t line() const { return m_row_line; }  ///< on which the row begins
  std::size_t bytes_read() const { return m_at; }

  /// Throws an error about this row, or about a column of it, counted from 0, and the column's
  /// name.
  [[noreturn]] void fail(std::string const& why, std::string const& advice) const;
  [[noreturn]] void fail(std::size_t column, std::string const& name, std::string const& why,
                         std::string const& advice) const;

 private:
  void skip_empty_lines();

  std::string_view m_text;
  std::string m_name;
  std::size_t m_at = 0;
  std::uint64_t m_line = 1, m_row_line = 1;
  char m_separator = ',';
  std::vector<std::string> m_fields;  // reused from row to row, with their memory
  std::size_t m_size = 0;
};

}  // namespace karpos::perf
