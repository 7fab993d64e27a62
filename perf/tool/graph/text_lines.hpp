// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "perf/tool/graph/input.hpp"

namespace karpos::perf::graph_input {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

/// Returns whether a field is a number of any size: a weight may exceed the range of double.
bool is_number(std::string_view field);
/// Returns whether a field consists of digits.
bool is_unsigned(std::string_view field);

/// Returns the non-empty fields of a line, which any of the marks separate.
std::vector<std::string_view> fields_of(std::string_view line, std::string_view marks);

/// The non-empty lines of a text, and the fields of the current line. Errors in a line throw a
/// graph_file_error that names it.
class text_lines {
 public:
  explicit text_lines(input const& in)
      : m_in(in),
        m_next(in.bytes.data()),
        m_text_end(m_next + in.bytes.size()),
        m_report(m_next) {}

  explicit text_lines(input&&) = delete;  // would be kept as a reference

  /// Moves to the next line. Returns whether there is one.
  bool next();
  /// Moves to the next line that does not begin with one of the marks.
  bool next_data(std::string_view comment_marks);
  /// Moves to the next line that does not begin with one of the marks; the line may be empty.
  bool next_row(std::string_view comment_marks);

  bool at_end() const { return m_at == m_end; }
  bool at(char c) const { return m_at != m_end && *m_at == c; }
  std::uint64_t line() const { return m_line; }
  input const& source() const { return m_in; }
  std::size_t bytes_left() const { return static_cast<std::size_t>(m_text_end - m_next); }
  std::string_view rest() const { return {m_at, static_cast<std::size_t>(m_end - m_at)}; }

  /// Chooses the separator of fields for the current and all later lines: comma or semicolon, if
  /// the current line has one, else blanks.
  void detect_separator();
  /// Chooses the separator of fields for words: a comma or semicolon, if the current line has one;
  /// else tabs, if they split the line into an edge, so that a word may contain blanks; else
  /// blanks. Fails if a line with tabs could be meant either way.
  void detect_word_separator();
  /// Reads a word, without the quotes that may surround it.
  std::string_view read_word(char const* what);
  std::string_view read_field(char const* what);
  std::uint64_t read_count(char const* what) { return read_integer(what); }
  /// Reads an id that counts from `first`. Returns it counted from 0.
  std::uint32_t read_id(std::uint64_t first, std::uint64_t vertices);
  /// Skips a weight, which must be a number.
  void skip_value(char const* what);
  /// Reads the weight of an edge. Returns 0 instead of -0. Fails if it is negative or not finite.
  double read_weight(char const* what);
  /// Appends a weight if the caller of the reader asked for weights; otherwise skips it.
  void read_value(char const* what, std::vector<double>& weights) {
    if (m_in.options.weights)
      weights.push_back(read_weight(what));
    else
      skip_value(what);
  }
  /// Fails if this line has a weight and the edges before have none, or the reverse. Only if
  /// weights were asked for.
  void require_consistent_weights(bool has_weight, std::size_t weights, std::size_t edges) const {
    if (m_in.options.weights && edges != 0 && has_weight != (weights != 0))
      fail_inconsistent_weights(has_weight);
  }
  /// Reads the attributes {...} of an edge, in the format of networkx, which end the line. Returns
  /// the value of 'weight', or nothing.
  std::string_view read_attributes();
  /// Reads the rest of an edge's line after the two vertices: a weight and a time, or attributes.
  /// `numbers` says that the vertices are unsigned numbers. Fails if rows of such numbers alone
  /// have different lengths, as in METIS.
  /// Returns the number of columns of the edge, without attributes.
  std::size_t read_rest_of_edge(bool numbers, std::vector<double>& weights,
                                std::size_t edges_before);
  void expect_end(std::string_view advice = "check that the header fits the lines") const;

  [[noreturn]] void fail(std::string const& why, std::string const& advice) const {
    graph_input::fail(m_in.name + ":" + std::to_string(m_line), why, advice);
  }

 private:
  std::uint64_t read_integer(char const* what);
  /// Returns the advice in messages about a file that may have another format.
  std::string format_advice() const;
  [[noreturn]] void fail_inconsistent_weights(bool has_weight) const;
  [[noreturn]] void fail_integer(char const* what, std::errc error) const;
  [[noreturn]] void fail_id(std::uint64_t id, std::uint64_t first, std::uint64_t vertices) const;

  void skip_blanks() {
    while (m_at != m_end && is_blank(*m_at)) ++m_at;
  }
  bool ends_field(char c) const { return is_blank(c) || c == m_separator; }
  std::string_view first_field() const;
  std::string_view first_word() const;
  std::string_view read_quoted();
  double weight_of(std::string_view field, char const* what) const;
  void require_number(std::string_view field, char const* what) const;
  void require_consistent_length(std::size_t length);
  /// Returns the current line up to the attributes at its end, if it has any.
  std::string_view before_attributes() const;
  bool has_edge_shape(std::string_view marks) const;
  bool read_line();
  /// Moves from the end of a field to the beginning of the next one.
  void skip_separator() {
    skip_blanks();
    if (m_at != m_end && *m_at == m_separator) skip_separator_mark();
  }
  void skip_separator_mark();

  input const& m_in;
  char const* m_at = nullptr;   // in the current line
  char const* m_end = nullptr;  // of the line, without trailing blanks
  char const* m_next;           // begin of the next line
  char const* m_text_end;
  char const* m_report;
  std::uint64_t m_line = 0;
  // Fields of the edges so far, if these consist of unsigned numbers alone.
  std::size_t m_row_length = 0;
  char m_separator = ' ';  // separates fields, in addition to blanks
};

inline std::uint64_t text_lines::read_integer(char const* what) {
  std::uint64_t value = 0;
  auto const [after, error] = std::from_chars(m_at, m_end, value);
  if (error != std::errc() || (after != m_end && !ends_field(*after))) fail_integer(what, error);
  m_at = after;
  skip_separator();
  return value;
}

inline std::uint32_t text_lines::read_id(std::uint64_t first, std::uint64_t vertices) {
  std::uint64_t const id = read_integer("a vertex id");
  if (id < first || id - first >= vertices) fail_id(id, first, vertices);
  return static_cast<std::uint32_t>(id - first);
}

}  // namespace karpos::perf::graph_input
