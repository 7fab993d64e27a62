// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "perf/tool/count/mapped_file.hpp"
#include "perf/tool/count/table_text.hpp"

namespace karpos::perf {

/// The chosen fields of a part of the file: numbers, or words if the format is not numeric.
struct table_part {
  std::vector<std::uint64_t> numbers;
  std::vector<std::string_view> words;
  std::deque<std::string> unescaped;  ///< storage of words with doubled quotes in the file
  std::vector<std::size_t> begins;    ///< offsets of the rows
  bool has_non_numbers = false;  ///< a chosen field is not a number, although the format is numeric
  std::size_t error_at = 0;      ///< offset of the first bad line
  std::string error;             ///< empty: no error
  bool out_of_memory = false;

  std::uint64_t lines() const { return begins.size(); }
};

/// Reads a file in parts, several parts concurrently on the host's threads.
class table_reader {
 public:
  table_reader(mapped_file const& file, table_format const& format);
  /// Reads the bytes [begin, end) only, which must consist of whole rows. Does not check the counts
  /// that the header of a matrix announces.
  table_reader(mapped_file const& file, table_format const& format, std::size_t begin,
               std::size_t end);

  bool done() const { return m_offset >= m_end; }
  double progress() const;
  /// Returns whether a field that should be a number is not one; then the file must be read again
  /// in a format that is not numeric.
  bool has_non_numbers() const { return m_has_non_numbers; }
  /// Reads the next parts, some tens of megabytes in total, in the order of the file. Throws
  /// bad_input that names file and line. The result is valid until the next call, its words as long
  /// as this object. If the format is numeric and a field is not a number, some rows are missing,
  /// and has_non_numbers() is true.
  std::vector<table_part> const& next();

 private:
  mapped_file const& m_file;
  table_format const& m_format;
  std::size_t m_begin, m_end, m_offset;
  bool m_is_whole, m_has_non_numbers = false;
  std::uint64_t m_lines = 0;
  std::vector<table_part> m_parts;
};

/// Throws bad_input if a MatrixMarket file has another number of lines than its header announces,
/// or, unless all lines were read, has more lines already.
void require_entries(mapped_file const& file, table_format const& format, std::uint64_t lines,
                     bool all);

}  // namespace karpos::perf
