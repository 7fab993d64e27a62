// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

// Lines and fields of a table in a text: edge lists, MatrixMarket, CSV.

namespace karpos::perf {

/// How a text is to be read.
struct table_format {
  char separator = ' ';              ///< ' ': any run of blanks and tabs
  std::vector<std::size_t> columns;  ///< chosen ones, from 0, ascending; empty: all
  std::size_t column_count = 0;      ///< of the first line
  std::size_t data_begin = 0;        ///< offset behind banner, header and size line
  bool numeric = true;               ///< all chosen fields are unsigned integers

  /// Columns that every line must have.
  std::size_t needed() const { return columns.empty() ? column_count : columns.back() + 1; }
  bool chosen(std::size_t column) const {
    return columns.empty() || std::binary_search(columns.begin(), columns.end(), column);
  }
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

/// The line that begins at `offset`, without its end.
inline std::string_view line_at(std::string_view text, std::size_t offset) {
  std::size_t const end = text.find('\n', offset);
  return text.substr(offset, end == std::string_view::npos ? end : end - offset);
}

/// Empty lines and lines whose first character is # or % hold no data.
inline bool holds_data(std::string_view line) {
  line = trimmed(line);
  return !line.empty() && line.front() != '#' && line.front() != '%';
}

/// Takes the next field off a line that is separated by blanks.
inline std::string_view next_blank_field(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  std::string_view const field = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return field;
}

/// Takes the next field off a line that is separated by one character; a field in quotes may hold it.
inline std::string_view next_separated_field(std::string_view& line, char separator, bool& more) {
  std::size_t end = 0;
  std::size_t const start = line.find_first_not_of(" \t");
  if (start != std::string_view::npos && line[start] == '"') {
    end = start + 1;
    while (end < line.size() &&
           (line[end] != '"' || (end + 1 < line.size() && line[end + 1] == '"')))
      end += line[end] == '"' ? 2 : 1;
  }
  end = line.find(separator, std::min(end, line.size()));
  more = end != std::string_view::npos;
  std::string_view field = trimmed(line.substr(0, end));
  line.remove_prefix(more ? end + 1 : line.size());
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = field.substr(1, field.size() - 2);
  return field;
}

/// Calls use(column, field) for every field. Returns: how many there are.
template <class Use>
std::size_t for_each_field(std::string_view line, char separator, Use&& use) {
  std::size_t column = 0;
  if (separator == ' ') {
    for (;; ++column) {
      std::string_view const field = next_blank_field(line);
      if (field.empty()) return column;
      use(column, field);
    }
  }
  for (bool more = true; more; ++column) {
    std::string_view const field = next_separated_field(line, separator, more);
    use(column, field);
  }
  return column;
}

/// Reads an unsigned 64-bit integer. Returns: whether the field is one.
inline bool read_number(std::string_view field, std::uint64_t& value) {
  if (field.empty() || field.size() > 20) return false;
  std::uint64_t v = 0;
  for (char const c : field) {
    auto const digit = static_cast<unsigned>(c) - unsigned('0');
    if (digit > 9) return false;
    if (v > (~std::uint64_t(0) - digit) / 10) return false;
    v = v * 10 + digit;
  }
  value = v;
  return true;
}

}  // namespace karpos::perf
