// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/graph/text_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace karpos::perf::graph_input {
namespace {

// Far above the length that any writer needs for an edge: a file without line ends is not an edge
// list.
constexpr std::size_t longest_line = std::size_t(1) << 16;

/// Bytes that are examined to find out what a file is.
constexpr std::size_t examined_bytes = 4096;

bool is_binary(char c) {
  constexpr std::string_view in_texts = "\n\r\t\v\f\x1b";  // a log may have escape sequences
  return (c >= 0 && c < ' ' && in_texts.find(c) == std::string_view::npos) || c == '\x7f';
}

}  // namespace

void require_text(std::string_view bytes, std::string const& name, std::string const& why_binary,
                  std::string const& advice) {
  std::string_view const begin = bytes.substr(0, examined_bytes);
  auto const binary = std::find_if(begin.begin(), begin.end(), is_binary);
  if (binary != begin.end())
    graph_input::fail(name + " at byte " + std::to_string(binary - begin.begin()), why_binary,
                      advice);
  std::size_t const end = begin.find('\r');
  if (end < begin.size() - 1 && begin.find('\n') == std::string_view::npos)
    graph_input::fail(name + " at byte " + std::to_string(end),
                      "its lines end in carriage returns alone",
                      "convert it: tr '\\r' '\\n' < OLD > NEW");
}

bool text_lines::read_line() {
  if (m_next == m_text_end) return false;
  if (m_next >= m_report) {
    m_in.show(m_in.bytes.size() - bytes_left(), std::to_string(m_line) + " lines");
    m_report = m_next + std::min(report_bytes, bytes_left());
  }
  ++m_line;
  auto const* end = static_cast<char const*>(std::memchr(m_next, '\n', bytes_left()));
  m_at = m_next;
  m_end = end ? end : m_text_end;
  m_next = end ? end + 1 : m_text_end;
  while (m_end != m_at && (is_blank(m_end[-1]) || m_end[-1] == '\r')) --m_end;
  skip_blanks();
  return true;
}

bool text_lines::next() {
  while (read_line())
    if (!at_end()) return true;
  return false;
}

bool text_lines::next_row(std::string_view comment_marks) {
  while (read_line())
    if (at_end() || comment_marks.find(*m_at) == std::string_view::npos) return true;
  return false;
}

bool text_lines::next_data(std::string_view comment_marks) {
  while (next()) {
    if (comment_marks.find(*m_at) != std::string_view::npos) continue;
    if (rest().size() > longest_line)
      fail("a line of " + std::to_string(rest().size()) + " bytes",
           "such files have an edge per line; check that this is one, or " + format_advice());
    return true;
  }
  return false;
}

std::vector<std::string_view> fields_of(std::string_view line, std::string_view marks) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; (at = line.find_first_not_of(marks, at)) != line.npos;) {
    std::size_t const end = std::min(line.find_first_of(marks, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
  return fields;
}

std::string_view text_lines::before_attributes() const {
  std::string_view const line = rest();
  if (!line.ends_with('}')) return line;
  for (std::size_t at = 1; (at = line.find('{', at)) != line.npos; ++at)
    if (is_blank(line[at - 1]) || line[at - 1] == ',' || line[at - 1] == ';') {
      std::size_t end = at;
      while (end > 0 && is_blank(line[end - 1])) --end;
      return line.substr(0, end);
    }
  return line;
}

void text_lines::detect_separator() {
  std::size_t const mark = before_attributes().find_first_of(",;");
  m_separator = mark == std::string_view::npos ? ' ' : rest()[mark];
}

namespace {

/// Returns the position of the first comma or semicolon outside of quotes, or npos.
std::size_t position_of_separator(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (!quoted && (line[i] == ',' || line[i] == ';')) return i;
  }
  return line.npos;
}

}  // namespace

/// Returns whether the line has two vertices and at most a weight and a time.
bool text_lines::has_edge_shape(std::string_view marks) const {
  auto const fields = fields_of(before_attributes(), marks);
  return fields.size() >= 2 && fields.size() <= 4 &&
         std::all_of(fields.begin() + 2, fields.end(), is_number);
}

void text_lines::detect_word_separator() {
  std::size_t const mark = position_of_separator(before_attributes());
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

std::string_view text_lines::read_quoted() {
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

std::string_view text_lines::read_word(char const* what) {
  if (at_end()) fail(std::string("the line ends before ") + what, "check that the file is whole");
  std::string_view word;
  if (*m_at == '"') {
    word = read_quoted();
  } else {
    word = first_word();
    m_at += word.size();
  }
  if (word.empty()) fail(std::string(what) + " has no letter", "write its name");
  if (word.find('\t') != word.npos)
    fail("there is a tab in " + quoted(word), "write names without tabs in them");
  skip_separator();
  return word;
}

std::string_view text_lines::first_field() const {
  auto const* const end = std::find_if(m_at, m_end, [&](char c) { return ends_field(c); });
  return {m_at, static_cast<std::size_t>(end - m_at)};
}

void text_lines::skip_separator_mark() {
  ++m_at;
  skip_blanks();
  if (at_end())
    fail(std::string("the line ends behind '") + m_separator + "'", "write the field, or no mark");
}

std::string_view text_lines::read_field(char const* what) {
  if (at_end()) fail(std::string("the line ends before ") + what, "check that the file is whole");
  std::string_view const field = first_field();
  m_at += field.size();
  skip_separator();
  return field;
}

bool is_unsigned(std::string_view field) {
  return !field.empty() &&
         std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_number(std::string_view field) {
  if (field.empty() || is_unsigned(field)) return !field.empty();
  char const* const end = field.data() + field.size();
  char const* begin = field.data();
  double ignored = 0;
  if (*begin == '+' && end - begin > 1 && begin[1] != '-') ++begin;  // from_chars rejects a plus
  // A number that double cannot represent is still a number.
  auto const [after, error] = std::from_chars(begin, end, ignored);
  return error != std::errc::invalid_argument && after == end;
}

void text_lines::require_number(std::string_view field, char const* what) const {
  if (!field.empty() && !is_number(field))
    fail(quoted(field) + " is no number, as " + what + " must be", "correct the line");
}

void text_lines::skip_value(char const* what) { require_number(read_field(what), what); }

double text_lines::weight_of(std::string_view field, char const* what) const {
  constexpr char advice[] = "correct the line, or draw weights by `--random-weights`";
  if (!is_number(field)) fail(quoted(field) + " is no number, as " + what + " must be", advice);
  if (field[0] == '+') field.remove_prefix(1);
  double weight = 0;
  // For numbers too close to 0 or too large, from_chars fails; strtod distinguishes the two cases.
  if (std::from_chars(field.data(), field.data() + field.size(), weight).ec != std::errc())
    weight = std::strtod(std::string(field).c_str(), nullptr);
  if (!std::isfinite(weight))
    fail(quoted(field) + " is not finite, as " + what + " must be", advice);
  if (weight < 0) fail(quoted(field) + " is negative, as " + what + " cannot be", advice);
  return weight + 0.0;
}

void text_lines::fail_inconsistent_weights(bool has_weight) const {
  fail(has_weight ? "the edge has a weight, but those before have none"
                  : "the edge has no weight, but those before have one",
       "write one for each, draw weights by `--random-weights`, or say by `--format` what else it "
       "is");
}

double text_lines::read_weight(char const* what) { return weight_of(read_field(what), what); }

namespace {

/// Returns the position after the closing quote of the quoted word at the beginning of `text`, or
/// npos.
std::size_t end_of_quoted(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[0])
      return i + 1;
  }
  return text.npos;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view text_lines::read_attributes() {
  std::string_view const text = rest();
  std::string_view key, weight;
  std::size_t begin = 1;  // of the current key or value
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == '"' || c == '\'') {
      std::size_t const size = end_of_quoted(text.substr(i));
      if (size == text.npos) break;
      i += size - 1;
      continue;
    }
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (depth == 1 && c == ':') {
      key = without_blanks(text.substr(begin, i - begin));
      begin = i + 1;
    }
    if (depth == 1 && (c == ',' || c == '}')) {
      if (key == "'weight'" || key == "\"weight\"")
        weight = without_blanks(text.substr(begin, i - begin));
      key = {};
      begin = i + 1;
    }
    if (c == '}' || c == ']' || c == ')') --depth;
    if (depth == 0) {
      m_at += i + 1;
      skip_blanks();
      expect_end("end it behind the attributes");
      return weight;
    }
  }
  fail("the attributes " + quoted(text) + " do not end", "check that the file is whole");
}

void text_lines::require_consistent_length(std::size_t length) {
  if (m_in.options.format != graph_format::automatic || m_separator != ' ') return;
  if (m_row_length != 0 && m_row_length != length)
    fail("a row of " + std::to_string(length) + " numbers behind rows of " +
             std::to_string(m_row_length),
         "say what it is: `--format metis` for rows of neighbours, `--format edges` for edges of "
         "which some have a weight");
  m_row_length = length;
}

std::size_t text_lines::read_rest_of_edge(bool numbers, std::vector<double>& weights,
                                          std::size_t edges_before) {
  static constexpr char advice[] =
      "an edge of a list has two vertices, at most a weight and a time; rows of neighbours take "
      "`--format metis`";
  constexpr std::size_t ends = 2;
  if (at('{')) {
    std::string_view const weight = read_attributes();
    require_consistent_weights(!weight.empty(), weights.size(), edges_before);
    if (m_in.options.weights && !weight.empty()) weights.push_back(weight_of(weight, "the weight"));
    return ends;
  }
  std::size_t length = ends;
  require_consistent_weights(!at_end(), weights.size(), edges_before);
  for (char const* const what : {"the weight", "the time"}) {
    if (at_end()) break;
    ++length;
    std::string_view const field = read_field(what);
    bool const is_digits = is_unsigned(field);
    numbers = numbers && is_digits;
    if (length == 3 && m_in.options.weights)
      weights.push_back(weight_of(field, what));
    else if (!is_digits)
      require_number(field, what);
  }
  expect_end(advice);
  if (numbers) require_consistent_length(length);
  return length;
}

std::string text_lines::format_advice() const {
  bool const is_given = m_in.options.format != graph_format::automatic;
  return is_given ? "say by another `--format` what it is" : "say what it is by `--format`";
}

void text_lines::expect_end(std::string_view advice) const {
  if (!at_end())
    fail("the line goes on with " + quoted(rest()) + " where it should end", std::string(advice));
}

void text_lines::fail_integer(char const* what, std::errc error) const {
  if (at_end())
    fail(std::string("the line ends before ") + what,
         "check that the file is whole, or " + format_advice());
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
       "`--relabel` takes words, `--format` another format");
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
