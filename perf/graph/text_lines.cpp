// SPDX-License-Identifier: Apache-2.0
#include "perf/graph/text_lines.hpp"

#include <algorithm>

namespace karpos::perf::graph_input {
namespace {

// Far above what any writer makes; a file without ends of lines is something else.
constexpr std::size_t longest_line = std::size_t(1) << 16;

/// Bytes that are looked at to see what a file is.
constexpr std::size_t glance = 4096;

bool is_binary(char c) {
  constexpr std::string_view in_texts = "\n\r\t\v\f\x1b";  // a log may have escape sequences
  return (c >= 0 && c < ' ' && in_texts.find(c) == std::string_view::npos) || c == '\x7f';
}

}  // namespace

void require_text(std::string_view bytes, std::string const& name, std::string const& why_binary,
                  std::string const& what_to_do) {
  std::string_view const begin = bytes.substr(0, glance);
  auto const binary = std::find_if(begin.begin(), begin.end(), is_binary);
  if (binary != begin.end())
    graph_input::fail(name + " at byte " + std::to_string(binary - begin.begin()), why_binary,
                      what_to_do);
  std::size_t const end = begin.find('\r');
  if (end < begin.size() - 1 && begin.find('\n') == std::string_view::npos)
    graph_input::fail(name + " at byte " + std::to_string(end),
                      "its lines end in carriage returns alone",
                      "convert it: tr '\\r' '\\n' < OLD > NEW");
}

bool text_lines::next() {
  while (m_next != m_text_end) {
    if (m_next >= m_report) {
      m_in.show(m_in.bytes.size() - bytes_left(), std::to_string(m_line) + " lines");
      m_report = m_next + std::min(report_bytes, bytes_left());
    }
    ++m_line;
    auto const* end = static_cast<char const*>(std::memchr(m_next, '\n', bytes_left()));
    m_at = m_next;
    m_end = end ? end : m_text_end;
    m_next = end ? end + 1 : m_text_end;
    if (static_cast<std::size_t>(m_end - m_at) > longest_line)
      fail("a line of " + std::to_string(m_end - m_at) + " bytes",
           "graph files have an edge per line; check that this is one");
    while (m_end != m_at && (is_blank(m_end[-1]) || m_end[-1] == '\r')) --m_end;
    skip_blanks();
    if (!at_end()) return true;
  }
  return false;
}

void text_lines::detect_separator() {
  std::size_t const mark = rest().find_first_of(",;");
  m_separator = mark == std::string_view::npos ? ' ' : rest()[mark];
}

std::string_view text_lines::first_field() const {
  auto const* const end = std::find_if(m_at, m_end, [&](char c) { return ends_field(c); });
  return {m_at, static_cast<std::size_t>(end - m_at)};
}

void text_lines::pass_mark() {
  ++m_at;
  skip_blanks();
  if (at_end())
    fail(std::string("the line ends behind '") + m_separator + "'", "write the field, or no mark");
}

std::string_view text_lines::take_field(char const* what) {
  if (at_end()) fail(std::string("the line ends before ") + what, "check that the file is whole");
  std::string_view const field = first_field();
  m_at += field.size();
  pass_separator();
  return field;
}

void text_lines::skip_value(char const* what) {
  std::string_view const field = take_field(what);
  char const* const end = field.data() + field.size();
  char const* begin = field.data();
  if (std::all_of(begin, end, [](char c) { return c >= '0' && c <= '9'; })) return;
  double ignored = 0;
  if (*begin == '+' && end - begin > 1 && begin[1] != '-') ++begin;  // from_chars knows no plus
  // A number that double cannot hold is a number all the same.
  auto const [behind, error] = std::from_chars(begin, end, ignored);
  if (error == std::errc::invalid_argument || behind != end)
    fail(quoted(field) + " is no number, as " + what + " must be", "correct the line");
}

void text_lines::expect_end() const {
  if (!at_end())
    fail("the line goes on with " + quoted(rest()) + " where it should end",
         "check that the header fits the lines");
}

void text_lines::fail_integer(char const* what, std::errc error) const {
  if (at_end()) fail(std::string("the line ends before ") + what, "check that the file is whole");
  std::string_view const field = first_field();
  std::string const is = quoted(field) + " is ";
  if (error == std::errc::result_out_of_range)
    fail(is + "too large for " + what + ", ids must fit into 32 bits", "renumber the vertices");
  if (field.size() > 1 && field[0] == '-' && field[1] >= '0' && field[1] <= '9')
    fail(is + "negative, as " + what + " cannot be", "renumber the vertices");
  fail(is + "no unsigned integer, as " + what + " must be",
       "correct the line; fields are separated by blanks or tabs, in edge lists also by commas");
}

void text_lines::fail_id(std::uint64_t id, std::uint64_t first, std::uint64_t vertices) const {
  std::string const vertex = "vertex id " + std::to_string(id);
  if (id < first)
    fail(vertex + ", but ids of this format count from " + std::to_string(first),
         "add " + std::to_string(first) + " to every id");
  if (vertices == max_vertices)
    fail(vertex + " does not fit into 32 bits", "renumber the vertices");
  fail(vertex + ", but the header announces " + std::to_string(vertices) + " vertices",
       "correct the header or the line");
}

}  // namespace karpos::perf::graph_input
