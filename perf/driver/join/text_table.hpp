// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/table_format.hpp"
#include "perf/driver/count/table_reader.hpp"
#include "perf/support/map_run.hpp"

namespace karpos::perf {

/// A table of a text file, whose rows, none below a header alone, have as many fields as its first one. The fields of some
/// columns, the keys, are kept as they are read; any row is read again when it is asked for.
/// Throws: bad_input, graph_file_error that name the file, and the line.
class text_table {
 public:
  /// wishes.columns: the keys'; none: all.
  text_table(std::string const& path, format_wishes const& wishes);

  /// Reads all rows; tells which part of them is read.
  void read(reporter const& report);

  std::string const& path() const { return m_file.path(); }
  /// "path:line" of a row.
  std::string place(std::uint64_t row) const { return m_file.place(m_begins[row]); }
  /// No fewer rows than there are, known before they are read.
  std::uint64_t most_rows() const { return m_most_rows; }
  std::uint64_t rows() const { return m_begins.size(); }
  /// Of all columns; "column 1" where no header names them.
  std::vector<std::string> const& names() const { return m_names; }
  bool has_header() const { return !m_format.names.empty(); }
  /// Names in the header; none without one.
  std::vector<std::string> const& header() const { return m_format.names; }

  /// Columns, from 0, of the keys, in the order of the wishes.
  std::vector<std::size_t> const& keys() const { return m_keys; }
  /// Throws: bad_input if one of the first keys, or of all, is a column that another one is; `option` named them.
  void require_different_keys(char const* option, std::size_t first = ~std::size_t(0)) const;
  /// What stands in such a column, row by row.
  std::vector<std::string_view> const& fields_of_key(std::size_t key) const {
    return m_fields[m_places[key]];
  }
  /// What stands in a row.
  void take_row(std::uint64_t row, std::vector<std::string>& fields) const;

 private:
  mapped_file m_file;
  table_format m_format;
  table_reader m_reader;
  std::uint64_t m_most_rows = 0;
  std::vector<std::string> m_names;
  std::vector<std::size_t> m_keys,
      m_places;  // of each key: its column, and its place among m_format.columns
  std::vector<std::vector<std::string_view>> m_fields;  // as m_format.columns
  std::vector<std::size_t> m_begins;                    // of rows, in the text
};

}  // namespace karpos::perf
