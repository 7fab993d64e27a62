// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perf/measure/support/map_run.hpp"
#include "perf/tool/count/mapped_file.hpp"
#include "perf/tool/count/table_format.hpp"
#include "perf/tool/count/table_reader.hpp"

namespace karpos::perf {

/// A table in a text file. All rows have as many fields as the first one; a header alone is a table
/// without rows. The fields of the key columns are kept in memory; a whole row is read again when
/// it is requested.
/// Throws: bad_input, graph_file_error that name the file and the line.
class text_table {
 public:
  /// Opens the table. `settings.columns` are the key columns; if empty, all columns are.
  text_table(std::string const& path, format_settings const& settings);

  /// Reads all rows, and reports the fraction that has been read.
  void read(reporter const& report);

  std::string const& path() const { return m_file.path(); }
  /// Returns "path:line" of a row.
  std::string place(std::uint64_t row) const { return m_file.place(m_begins[row]); }
  /// Returns an upper bound of the number of rows, which is known before they are read.
  std::uint64_t max_rows() const { return m_max_rows; }
  std::uint64_t rows() const { return m_begins.size(); }
  /// Returns the names of all columns; "column 1" if there is no header.
  std::vector<std::string> const& names() const { return m_names; }
  bool has_header() const { return !m_format.names.empty(); }
  /// Returns the names in the header; empty without one.
  std::vector<std::string> const& header() const { return m_format.names; }

  /// Returns the key columns, from 0, in the order in which `settings` names them.
  std::vector<std::size_t> const& keys() const { return m_keys; }
  /// Throws bad_input if one of the first keys, or of all keys, is the same column as another one.
  /// `option` named them.
  void require_different_keys(char const* option, std::size_t first = ~std::size_t(0)) const;
  /// Returns the fields of a key column, row by row.
  std::vector<std::string_view> const& fields_of_key(std::size_t key) const {
    return m_fields[m_places[key]];
  }
  /// Reads all fields of a row.
  void read_row(std::uint64_t row, std::vector<std::string>& fields) const;

 private:
  mapped_file m_file;
  table_format m_format;
  table_reader m_reader;
  std::uint64_t m_max_rows = 0;
  std::vector<std::string> m_names;
  std::vector<std::size_t> m_keys,
      m_places;  // of each key: its column, and the index of that column in m_format.columns
  std::vector<std::vector<std::string_view>> m_fields;  // in the order of m_format.columns
  std::vector<std::size_t> m_begins;                    // of rows, as offsets in the text
};

}  // namespace karpos::perf
