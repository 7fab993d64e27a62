// SPDX-License-Identifier: Apache-2.0
#include "perf/graph/text_lines.hpp"

#include <algorithm>
#include <vector>

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

namespace {

std::vector<std::string_view> fields_of(std::string_view line, std::string_view marks) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; (at = line.find_first_not_of(marks, at)) != line.npos;) {
    std::size_t const end = std::min(line.find_first_of(marks, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
  return fields;
}

/// Of the first comma or semicolon that stands in no quotes, or npos.
std::size_t place_of_mark(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (!quoted && (line[i] == ',' || line[i] == ';')) return i;
  }
  return line.npos;
}

}  // namespace

/// Two vertices, at most a weight and a time.
bool text_lines::has_edge_shape(std::string_view marks) const {
  auto const fields = fields_of(rest(), marks);
  return fields.size() >= 2 && fields.size() <= 4 &&
         std::all_of(fields.begin() + 2, fields.end(), is_number);
}

void text_lines::detect_word_separator() {
  std::size_t const mark = place_of_mark(rest());
  m_separator = mark == std::string_view::npos ? ' ' : rest()[mark];
  if (m_separator != ' ' || rest().find('\t') == std::string_view::npos) return;
  constexpr char tabs[] = "\t", blanks[] = " \t\v\f";
  if (!has_edge_shape(tabs)) return;
  if (has_edge_shape(blanks) && fields_of(rest(), tabs) != fields_of(rest(), blanks))
    fail("both tabs and other blanks could stand between the fields of " + quoted(rest()),
         "separate them by commas, or by one of the two");
  m_separator = '\t';
}

std::string_view text_lines::first_word() const {
  if (m_separator == ' ') return first_field();
  std::string_view word = rest().substr(0, std::min(rest().find(m_separator), rest().size()));
  while (!word.empty() && is_blank(word.back())) word.remove_suffix(1);
  return word;
}

std::string_view text_lines::take_quoted() {
  std::size_t const end = rest().find('"', 1);
  if (end == std::string_view::npos)
    fail("the quote that begins " + quoted(rest()) + " does not end", "end it, or leave it out");
  std::string_view const word = rest().substr(1, end - 1);
  m_at += end + 1;
  if (!at_end() && *m_at == '"')
    fail("doubled quotes in " + quoted(word), "write names without quotes in them");
  if (!at_end() && !ends_field(*m_at))
    fail("behind its quotes " + quoted(word) + " goes on with " + quoted(first_field()),
         "end the field there");
  return word;
}

std::string_view text_lines::take_word(char const* what) {
  if (at_end()) fail(std::string("the line ends before ") + what, "check that the file is whole");
  std::string_view word;
  if (*m_at == '"') {
    word = take_quoted();
  } else {
    word = first_word();
    m_at += word.size();
  }
  if (word.empty()) fail(std::string(what) + " has no letter", "write its name");
  if (word.find('\t') != word.npos)
    fail("there is a tab in " + quoted(word), "write names without tabs in them");
  pass_separator();
  return word;
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

bool is_number(std::string_view field) {
  char const* const end = field.data() + field.size();
  char const* begin = field.data();
  if (std::all_of(begin, end, [](char c) { return c >= '0' && c <= '9'; })) return begin != end;
  double ignored = 0;
  if (*begin == '+' && end - begin > 1 && begin[1] != '-') ++begin;  // from_chars knows no plus
  // A number that double cannot hold is a number all the same.
  auto const [behind, error] = std::from_chars(begin, end, ignored);
  return error != std::errc::invalid_argument && behind == end;
}

void text_lines::skip_value(char const* what) {
  std::string_view const field = take_field(what);
  if (!field.empty() && !is_number(field))
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
    fail(is + "too large for " + what + ", ids must fit into 32 bits",
         "renumber the vertices, as `--relabel` does");
  if (field.size() > 1 && field[0] == '-' && field[1] >= '0' && field[1] <= '9')
    fail(is + "negative, as " + what + " cannot be",
         std::string_view(what).starts_with("the number") ? "correct the line"
                                                          : "renumber the vertices");
  fail(is + "no unsigned integer, as " + what + " must be",
       "correct the line; fields are separated by blanks or tabs, in edge lists also by commas; "
       "a header above the edges is left out, `--relabel` takes words");
}

void text_lines::fail_id(std::uint64_t id, std::uint64_t first, std::uint64_t vertices) const {
  std::string const vertex = "vertex id " + std::to_string(id);
  if (id < first)
    fail(vertex + ", but ids of this format count from " + std::to_string(first),
         "add " + std::to_string(first) + " to every id");
  if (vertices == max_vertices)
    fail(vertex + " does not fit into 32 bits", "renumber the vertices, as `--relabel` does");
  fail(vertex + ", but the header announces " + std::to_string(vertices) + " vertices",
       "correct the header or the line");
}

}  // namespace karpos::perf::graph_input
