// SPDX-License-Identifier: Apache-2.0
#include "perf/graph/text_format.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "perf/graph/text_lines.hpp"

namespace karpos::perf::graph_input {
namespace {

constexpr char blanks[] = " \t\v\f";
constexpr char banner[] = "matrixmarket";

using field_list = std::vector<std::string_view>;

std::string lower(std::string_view text) {
  std::string word(text);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

bool starts_with_banner(std::string_view line) {
  return lower(line.substr(0, sizeof(banner) - 1)) == banner;
}

/// A reader of the text that shows no progress.
class glance {
 public:
  explicit glance(input const& in) : m_in{in.bytes, in.name, m_silent, 0, in.how}, m_lines(m_in) {}
  text_lines& lines() { return m_lines; }
  input const& source() const { return m_in; }

 private:
  graph_progress m_silent;
  input m_in;
  text_lines m_lines;
};

/// Moves to the next line of data of a list, or of METIS, however long.
bool next_data(text_lines& lines) {
  while (lines.next())
    if (!lines.at('#') && !lines.at('%')) return true;
  return false;
}

// DIMACS.

/// The first fields of the next line that is no comment "c ..."; none at the end.
field_list next_fields(text_lines& lines) {
  while (lines.next()) {
    field_list fields;
    while (!lines.at_end() && fields.size() < 6) fields.push_back(lines.take_field("a field"));
    if (fields.front() != "c") return fields;
  }
  return {};
}

bool are_numbers(field_list const& fields, std::size_t from) {
  return std::all_of(fields.begin() + static_cast<std::ptrdiff_t>(std::min(from, fields.size())),
                     fields.end(), is_number);
}

/// "a U V W", "e U V" or "n U VALUE".
bool is_dimacs_entry(field_list const& fields) {
  if (fields.size() < 2 || fields[0].size() != 1) return false;
  if (fields[0] == "n") return is_number(fields[1]);
  return std::strchr("aedvx", fields[0][0]) != nullptr && are_numbers(fields, 1);
}

/// Whether the lines that are no comments begin with "p sp VERTICES ARCS" or the like, and go on with an entry: a list of
/// words may begin with vertices c, p, a or e.
bool begins_as_dimacs(input const& in) {
  constexpr std::string_view kinds[] = {"sp", "edge", "col"};
  glance text(in);
  auto const header = next_fields(text.lines());
  if (header.size() != 4 || header[0] != "p" || !are_numbers(header, 2) ||
      std::find(std::begin(kinds), std::end(kinds), header[1]) == std::end(kinds))
    return false;
  auto const entry = next_fields(text.lines());
  return entry.empty() || is_dimacs_entry(entry);
}

/// Whether a text without words for vertices is best told what is wrong with it as DIMACS: it has nothing but comments, its
/// problem is another, or an entry comes first.
bool resembles_dimacs(input const& in) {
  glance text(in);
  auto const fields = next_fields(text.lines());
  bool const header =
      fields.size() > 2 && fields.size() < 5 && fields[0] == "p" && are_numbers(fields, 2);
  return fields.empty() || header || is_dimacs_entry(fields);
}

bool is_dimacs(input const& in, std::string_view line, bool words) {
  bool const one_letter = line.size() == 1 || is_blank(line[1]);
  if (!one_letter || std::strchr("cpae", line[0]) == nullptr) return false;
  return words ? begins_as_dimacs(in) : resembles_dimacs(in);
}

// Comments above the first line of data.

struct first_lines {
  bool has_banner = false;   ///< "%%" begins the first line that is not empty
  bool has_percent = false;  ///< the first comment begins with '%', and is none of KONECT's
};

/// Whether a comment is the first line of KONECT's lists of edges, such as "% sym unweighted".
bool is_konect(text_lines const& lines) {
  field_list const fields = fields_of(lines.rest(), blanks);
  if (fields.size() < 2 || fields[0] != "%") return false;
  if (fields[1] == "bip")
    lines.fail("KONECT's '% bip' numbers the vertices of the two sides apart",
               "give them different names; `--format edges` takes equal numbers for one vertex");
  return fields[1] == "sym" || fields[1] == "asym";
}

/// Moves to the first line of data, and refuses a banner that is none.
first_lines read_comments(text_lines& lines, bool& has_data) {
  first_lines seen;
  bool is_first = true;
  for (; (has_data = lines.next()); is_first = false) {
    std::string_view const line = lines.rest();
    if (is_first && line.starts_with("%%")) {
      seen.has_banner = true;
      return seen;
    }
    std::size_t const word = line.find_first_not_of("#% \t");
    if (word != line.npos && starts_with_banner(line.substr(word)))
      lines.fail(is_first ? "the banner of a MatrixMarket file begins with '%%MatrixMarket', not " +
                                quoted(line.substr(0, word + sizeof(banner) - 1))
                          : std::string("the banner of a MatrixMarket file is not its first line"),
                 "correct the banner; " + choose_format);
    if (line[0] != '#' && line[0] != '%') return seen;
    if (is_first) seen.has_percent = line[0] == '%' && !is_konect(lines);
  }
  return seen;
}

// Sizes above the edges.

std::optional<std::uint64_t> number_of(std::string_view field) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) return {};
  return value;
}

/// Whether the first line of data looks like sizes of the lines that follow: two or three numbers, the last of which counts
/// the lines, and the others of which bound the ids; or three, of which the first two are equal.
bool begins_with_sizes(input const& in) {
  glance text(in);
  text_lines& lines = text.lines();
  if (!next_data(lines)) return false;
  std::vector<std::uint64_t> sizes;
  for (std::string_view const field : fields_of(lines.rest(), blanks)) {
    auto const value = number_of(field);
    if (!value || sizes.size() == 3) return false;
    sizes.push_back(*value);
  }
  if (sizes.size() < 2) return false;
  bool const matrix = sizes.size() == 3;
  std::uint64_t const rows = sizes[0], columns = matrix ? sizes[1] : rows;
  std::uint64_t count = 0;
  bool has_zero = false, has_last = false;
  for (; next_data(lines); ++count) {
    field_list const fields = fields_of(lines.rest(), blanks);
    if (fields.size() < 2) return false;
    auto const u = number_of(fields[0]), v = number_of(fields[1]);
    if (!u || !v || *u > rows || *v > columns) return false;
    has_zero = has_zero || *u == 0 || *v == 0;
    has_last = has_last || *u == rows || *v == columns;
    if (has_zero && (matrix || has_last)) return false;
    if (count >= sizes.back() && !(matrix && rows == columns)) return false;
  }
  if (matrix && rows == columns) return true;
  return count == sizes.back() && count >= (matrix ? 1 : 2);
}

/// Whether the lines have at most as many fields as an edge, and all as many.
bool has_equal_rows(input const& in) {
  glance text(in);
  std::size_t first = 0;
  while (next_data(text.lines())) {
    std::size_t const n = fields_of(text.lines().rest(), blanks).size();
    if (n < 2 || n > 4 || (first != 0 && n != first)) return false;
    first = n;
  }
  return true;
}

bool is_metis(input const& in) {
  glance text(in);
  try {
    return !read_metis(text.source()).sources.empty();
  } catch (graph_file_error const&) {
    return false;
  }
}

/// The format of a text whose first line of data, the line at hand, begins with a number.
graph_format format_of_numbers(input const& in, text_lines& lines, bool has_percent) {
  std::string const line = quoted(lines.rest());
  if (lines.rest().find_first_of(",;{") != std::string_view::npos) return graph_format::edges;
  if (is_metis(in)) {
    if (!has_equal_rows(in)) return graph_format::metis;
    lines.fail("the lines from " + line + " on are a METIS graph, and a list of edges as well",
               "say which by `--format metis` or `--format edges`");
  }
  if (begins_with_sizes(in))
    lines.fail(line + " looks like the sizes of a graph above its edges, without a banner",
               "write the banner of MatrixMarket, or the edges alone; " + choose_format);
  if (has_percent)
    lines.fail("comments with '%' begin a MatrixMarket file, whose banner is missing, or METIS",
               "mark comments of a list of edges by '#'; " + choose_format);
  return graph_format::edges;
}

/// The end of the name behind its last dot, in small letters; that of a gzip'ed file is before ".gz".
std::string extension(std::string name) {
  name = lower(name);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  std::size_t const dot = name.find_last_of("./");
  return dot == name.npos || name[dot] == '/' ? "" : name.substr(dot + 1);
}

}  // namespace

graph_format format_of_text(input const& in, bool words, char const* known) {
  glance text(in);
  text_lines& lines = text.lines();
  bool has_data = false;
  first_lines const first = read_comments(lines, has_data);
  if (first.has_banner) return graph_format::matrix_market;
  std::string const end = extension(in.name);
  if (has_data && is_dimacs(in, lines.rest(), words)) return graph_format::dimacs;
  if (end == "mtx" || end == "mm")
    lines.fail("a file called ." + end + " without the banner '%%MatrixMarket matrix ...'",
               "write it as the first line; " + choose_format);
  if (end == "graph" || end == "metis") return graph_format::metis;
  if (end == "gr" || end == "col" || end == "dimacs")
    lines.fail("a file called ." + end + " without a line 'p sp VERTICES ARCS' or the like",
               "write it above the edges; " + choose_format);
  if (!has_data) return graph_format::edges;
  std::string_view const line = lines.rest();
  bool const number = (line[0] >= '0' && line[0] <= '9') || line[0] == '-';
  if (number) return format_of_numbers(in, lines, first.has_percent);
  if (words || !header_of_list(in).empty()) return graph_format::edges;
  lines.fail("the line " + quoted(line) + " begins no graph",
             std::string(known) + "; " + choose_format);
}

namespace {

std::string_view without_quotes(std::string_view word) {
  bool const quoted = word.size() > 1 && word.front() == '"' && word.back() == '"';
  return quoted ? word.substr(1, word.size() - 2) : word;
}

/// What stands between the fields of a line: commas, semicolons or tabs if it has any, else blanks.
char mark_of(std::string_view line) {
  for (char const mark : {',', ';', '\t'})
    if (line.find(mark) != line.npos) return mark;
  return ' ';
}

field_list cells_of(std::string_view line, char mark) {
  field_list cells;
  if (mark == ' ') cells = fields_of(line, blanks);
  for (std::size_t at = 0; mark != ' ' && at <= line.size();) {
    std::size_t const end = std::min(line.find(mark, at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  for (std::string_view& cell : cells) {
    while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
    while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
    cell = without_quotes(cell);
  }
  return cells;
}

/// Names of the first two columns in the tables that other tools write.
bool are_names_of_ends(field_list const& cells) {
  using pair = std::array<std::string_view, 2>;
  constexpr pair known[] = {{"source", "target"},
                            {"src", "dst"},
                            {"from", "to"},
                            {"src", "dest"},
                            {"fromnode", "tonode"},
                            {"fromnodeid", "tonodeid"},
                            {"from_node_id", "to_node_id"},
                            {"node1", "node2"},
                            {"node_1", "node_2"},
                            {"id1", "id2"},
                            {"id_1", "id_2"},
                            {"source_id", "target_id"},
                            {"start", "end"},
                            {"head", "tail"},
                            {"tail", "head"}};
  pair const names = {std::string_view(cells[0]), std::string_view(cells[1])};
  std::string const first = lower(names[0]), second = lower(names[1]);
  return std::any_of(std::begin(known), std::end(known),
                     [&](pair const& p) { return first == p[0] && second == p[1]; });
}

}  // namespace

std::string_view header_of_list(input const& in) {
  constexpr int looked_at = 1000;
  glance text(in);
  text_lines& lines = text.lines();
  if (!next_data(lines)) return {};
  std::string_view const line = lines.rest();
  char const mark = mark_of(line);
  field_list const names = cells_of(line, mark);
  if (names.size() < 2 || std::any_of(names.begin(), names.end(), is_number)) return {};
  bool are_numbered = true;
  int rows = 0;
  for (; rows < looked_at && next_data(lines); ++rows) {
    field_list const cells = cells_of(lines.rest(), mark);
    if (rows == 0 && names.size() > 2 && cells.size() > 2 && is_number(cells[2])) return line;
    are_numbered = are_numbered && cells.size() > 1 && is_number(cells[0]) && is_number(cells[1]);
  }
  return rows > 0 && (are_numbered || are_names_of_ends(names)) ? line : std::string_view();
}

}  // namespace karpos::perf::graph_input
