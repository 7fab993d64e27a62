// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace karpos::perf {

/// The rows of a table with a separator, which is found as `karpos count` finds it, one after the other: a field in quotes may
/// hold separators, ends of lines and, doubled, quotes. Empty lines are passed over, as is a byte order mark; # begins no
/// comment. What is wrong ends as a std::invalid_argument that names file, line and column.
class csv_rows {
 public:
  csv_rows(std::string_view text, std::string name);

  /// Moves to the next row. Returns: whether there is one.
  bool next();

  std::size_t size() const { return m_size; }
  std::string const& operator[](std::size_t column) const { return m_fields[column]; }
  std::uint64_t line() const { return m_row_line; }  ///< on which the row begins
  std::size_t bytes_read() const { return m_at; }

  /// Throws: what is wrong with this row, or with a column of it, counted from 0, that has a name.
  [[noreturn]] void fail(std::string const& why, std::string const& what_to_do) const;
  [[noreturn]] void fail(std::size_t column, std::string const& name, std::string const& why,
                         std::string const& what_to_do) const;

 private:
  void pass_empty_lines();

  std::string_view m_text;
  std::string m_name;
  std::size_t m_at = 0;
  std::uint64_t m_line = 1, m_row_line = 1;
  char m_separator = ',';
  std::vector<std::string> m_fields;  // kept from row to row, with their memory
  std::size_t m_size = 0;
};

/// A part of a file for a message: short, and harmless on a terminal.
std::string quoted_for_message(std::string_view s);

}  // namespace karpos::perf
