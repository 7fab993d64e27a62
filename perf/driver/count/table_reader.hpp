// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "perf/driver/count/mapped_file.hpp"
#include "perf/driver/count/table_text.hpp"

namespace karpos::perf {

/// The chosen fields of a part of the file: numbers, or words if the format is not numeric.
struct table_part {
  std::vector<std::uint64_t> numbers;
  std::vector<std::string_view> words;
  std::deque<std::string> undoubled;  ///< what words point to where their quotes are doubled
  std::vector<std::size_t> begins;    ///< offsets of its rows
  bool other_fields = false;  ///< a chosen field is no number although the format is numeric
  std::size_t error_at = 0;   ///< offset of the first bad line
  std::string error;          ///< empty: none
  bool out_of_memory = false;

  std::uint64_t lines() const { return begins.size(); }
};

/// Reads a file part by part, several parts at a time on the host's threads.
class table_reader {
 public:
  table_reader(mapped_file const& file, table_format const& format);
  /// Reads the bytes [begin, end) alone, in which rows begin and end. Does not check what the
  /// header of a matrix announces.
  table_reader(mapped_file const& file, table_format const& format, std::size_t begin,
               std::size_t end);

  bool done() const { return m_offset >= m_end; }
  double progress() const;
  /// Whether a field that was to be a number is none: read the file again by a format that is not
  /// numeric.
  bool other_fields() const { return m_other_fields; }
  /// The next parts, some tens of megabytes in all, in the order of the file. Throws bad_input that names
  /// file and line. The answer is good until the next call, its words as long as this. If the
  /// format is numeric and a field is no number, some rows are missing: other_fields() tells.
  std::vector<table_part> const& next();

 private:
  mapped_file const& m_file;
  table_format const& m_format;
  std::size_t m_begin, m_end, m_offset;
  bool m_is_whole, m_other_fields = false;
  std::uint64_t m_lines = 0;
  std::vector<table_part> m_parts;
};

/// Throws: bad_input if a file that is a matrix has other lines of data than its header announces, or so far, where these are
/// not all, more.
void require_entries(mapped_file const& file, table_format const& format, std::uint64_t lines,
                     bool all);

}  // namespace karpos::perf
