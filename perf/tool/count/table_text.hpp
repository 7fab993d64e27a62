// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/tool/graph/matrix_market.hpp"

// Rows and fields of a table in a text: edge lists, MatrixMarket, and CSV according to RFC 4180.

namespace karpos::perf {

/// The format of a text.
struct table_format {
  char separator = ' ';              ///< ' ': any run of blanks and tabs
  std::vector<std::size_t> columns;  ///< the chosen columns, from 0, ascending; empty: all
  std::size_t column_count = 0;      ///< of the first row
  /// Columns that a row must have, in addition to the chosen ones.
  std::size_t least = 0;
  std::size_t most = ~std::size_t(0);  ///< columns that a row may have
  std::size_t data_begin = 0;          ///< offset after banner, header and size line
  bool numeric = true;                 ///< the chosen fields are read as unsigned integers
  std::vector<std::string> names;      ///< of the columns, if there is a header
  std::vector<std::size_t> left_out;   ///< columns of an edge list that hold no ids
  std::optional<graph_input::matrix_header> matrix;  ///< set for a MatrixMarket file

  /// Returns the number of columns that every row must have.
  std::size_t needed() const {
    return columns.empty() ? column_count : std::max(least, columns.back() + 1);
  }
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

/// Returns the line that begins at `offset`, without its line end.
inline std::string_view line_at(std::string_view text, std::size_t offset) {
  std::size_t const end = text.find('\n', offset);
  return text.substr(offset, end == std::string_view::npos ? end : end - offset);
}

/// Returns whether a line is a row of data: neither empty nor a comment that begins with # or %. If
/// tabs separate cells, a line that begins with a tab is a row whose first cell is empty.
inline bool holds_data(std::string_view line, char separator) {
  std::string_view const text = trimmed(line);
  if (separator == '\t' && line.find('\t') < line.find_first_not_of(" \t\r")) return true;
  return !text.empty() && text.front() != '#' && text.front() != '%';
}

/// Returns the position of the quote that ends the field which begins with one at `start`, or npos
/// if nothing ends it. Doubled quotes belong to the field.
inline std::size_t closing_quote(std::string_view text, std::size_t start) {
  std::size_t end = text.find('"', start + 1);
  while (end != std::string_view::npos && end + 1 < text.size() && text[end + 1] == '"')
    end = text.find('"', end + 2);
  return end;
}

/// Returns the row that begins at `offset`, without its end: a line, or several if a field in
/// quotes continues on the next line. A misplaced quote extends the row no further than the line
/// that reveals it. `separator` is not a blank.
inline std::string_view quoted_row_at(std::string_view text, std::size_t offset, char separator) {
  auto const end_of_line = [&](std::size_t at) {
    return std::min(text.find('\n', at), text.size());
  };
  std::size_t end = end_of_line(offset);  // of the current line
  for (std::size_t at = offset;;) {       // begin of a field
    std::size_t start = at;
    while (start < end && text[start] != separator && is_blank(text[start])) ++start;
    if (start < end && text[start] == '"') {
      std::size_t const close = closing_quote(text, start);
      std::size_t after = close == std::string_view::npos ? text.size() : close + 1;
      while (after < text.size() && text[after] != separator && is_blank(text[after])) ++after;
      bool const whole = close != std::string_view::npos &&
                         (after == text.size() || text[after] == separator || text[after] == '\n');
      if (!whole && separator != '\t') {
        if (close != std::string_view::npos) end = end_of_line(after);
        return text.substr(offset, end - offset);
      }
      if (whole) {
        end = end_of_line(after);
        if (after == end) return text.substr(offset, end - offset);
        at = after + 1;
        continue;
      }
    }
    std::size_t const length = text.substr(at, end - at).find(separator);
    if (length == std::string_view::npos) return text.substr(offset, end - offset);
    at += length + 1;
  }
}

/// Returns the row that begins at `offset`, or the line there if it holds no data.
inline std::string_view row_at(std::string_view text, std::size_t offset, char separator) {
  std::string_view const line = line_at(text, offset);
  bool const plain = separator == ' ' || line.find('"') == std::string_view::npos;
  return plain || !holds_data(line, separator) ? line : quoted_row_at(text, offset, separator);
}

/// Returns the begin of the first row at or after `at`. Requires: a row begins at `begin`.
inline std::size_t row_from(std::string_view text, std::size_t begin, std::size_t at,
                            char separator) {
  at = std::min(at, text.size());
  while (begin < at) {
    std::string_view const before = text.substr(begin, at - begin);
    std::size_t const quote = separator == ' ' ? std::string_view::npos : before.find('"');
    // Rows are lines up to the first quote.
    std::size_t const line = before.substr(0, quote).rfind('\n');
    if (line != std::string_view::npos) begin += line + 1;
    if (begin < at)
      begin = std::min(text.size(), begin + row_at(text, begin, separator).size() + 1);
  }
  return begin;
}

/// Takes the next field from a line whose fields are separated by blanks.
inline std::string_view next_blank_field(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  std::string_view const field = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return field;
}

/// A field of a row, without the quotes around it.
struct table_field {
  std::string_view text;
  bool has_escaped_quotes = false;    ///< it contains doubled quotes
  char const* quote_error = nullptr;  ///< description of an error in its quotes, or null
};

/// Returns the text of a field whose quotes are doubled.
inline std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"') ++i;
  }
  return plain;
}

/// Takes a field that begins with a quote at `start` from a row.
inline table_field parse_quoted_field(std::string_view& row, std::size_t start, char separator,
                                      bool& more) {
  table_field field;
  std::size_t const end = closing_quote(row, start);
  std::size_t after = std::min(end, row.size() - 1) + 1;
  while (after < row.size() && row[after] != separator && is_blank(row[after])) ++after;
  if (end == std::string_view::npos)
    field.quote_error = "a field begins with a quote that nothing ends";
  else if (after < row.size() && row[after] != separator)
    field.quote_error = "a field goes on behind the quote that ends it";
  field.text = row.substr(start + 1, end == std::string_view::npos ? end : end - start - 1);
  field.has_escaped_quotes = field.text.find('"') != std::string_view::npos;
  more = after < row.size();
  row.remove_prefix(more ? after + 1 : row.size());
  return field;
}

/// Takes the next field from a row whose fields are separated by one character. A field in quotes
/// may contain the separator and line ends. If tabs separate fields, a misplaced quote is an
/// ordinary character.
inline table_field next_separated_field(std::string_view& row, char separator, bool& more) {
  std::size_t start = 0;
  while (start < row.size() && row[start] != separator && is_blank(row[start])) ++start;
  if (start < row.size() && row[start] == '"') {
    std::string_view rest = row;
    table_field const field = parse_quoted_field(rest, start, separator, more);
    if (field.quote_error == nullptr || separator != '\t') {
      row = rest;
      return field;
    }
  }
  std::size_t const end = row.find(separator);
  more = end != std::string_view::npos;
  table_field const field{trimmed(row.substr(0, end))};
  row.remove_prefix(more ? end + 1 : row.size());
  return field;
}

/// Calls use(column, field) for every field of a row. Returns the number of fields.
template <class Use>
std::size_t for_each_field(std::string_view row, char separator, Use&& use) {
  std::size_t column = 0;
  if (separator == ' ') {
    for (;; ++column) {
      table_field const field{next_blank_field(row)};
      if (field.text.empty()) return column;
      use(column, field);
    }
  }
  for (bool more = true; more; ++column) {
    table_field const field = next_separated_field(row, separator, more);
    use(column, field);
  }
  return column;
}

/// Returns whether a field is a real number: 3, -1.5, 2e-7.
inline bool is_real(std::string_view field) {
  if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
  if (field.find_first_of("0123456789") == std::string_view::npos) return false;  // inf, nan
  double ignored = 0;
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), ignored);
  return error != std::errc::invalid_argument && end == field.data() + field.size();
}

/// Reads an unsigned 64-bit integer. Returns whether the field is one.
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
