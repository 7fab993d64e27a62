// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/graph/text_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "perf/measure/support/text.hpp"
#include "perf/tool/graph/text_lines.hpp"

namespace karpos::perf::graph_input {
namespace {

constexpr char blanks[] = " \t\v\f";
constexpr char marks[] = " \t\v\f,;|";  // all separators of fields in any list
constexpr char banner[] = "matrixmarket";

using field_list = std::vector<std::string_view>;

bool starts_with_banner(std::string_view line) {
  return lower_case(line.substr(0, sizeof(banner) - 1)) == banner;
}

/// A reader of the text that reports no progress.
class silent_reader {
 public:
  explicit silent_reader(input const& in)
      : m_in{in.bytes, in.name, m_silent, 0, in.options},
        m_lines(m_in) {}
  text_lines& lines() { return m_lines; }
  input const& source() const { return m_in; }

 private:
  graph_progress m_silent;
  input m_in;
  text_lines m_lines;
};

/// Moves to the next line of data of an edge list or METIS graph, however long the line is.
bool next_data(text_lines& lines) {
  while (lines.next())
    if (!lines.at('#') && !lines.at('%')) return true;
  return false;
}

// DIMACS

/// Returns the first fields of the next line that is no comment "c ..."; none at the end of the
/// text.
field_list next_fields(text_lines& lines) {
  while (lines.next()) {
    field_list fields;
    while (!lines.at_end() && fields.size() < 6) fields.push_back(lines.read_field("a field"));
    if (fields.front() != "c") return fields;
  }
  return {};
}

bool are_numbers(field_list const& fields, std::size_t from) {
  return std::all_of(fields.begin() + static_cast<std::ptrdiff_t>(std::min(from, fields.size())),
                     fields.end(), is_number);
}

/// Returns whether the fields look like a DIMACS entry: "a U V W", "e U V" or "n U VALUE".
bool is_dimacs_entry(field_list const& fields) {
  if (fields.size() < 2 || fields[0].size() != 1) return false;
  if (fields[0] == "n") return is_number(fields[1]);
  return std::strchr("aedvx", fields[0][0]) != nullptr && are_numbers(fields, 1);
}

/// Returns whether the lines, without comments, begin with "p sp VERTICES ARCS" or the like and go
/// on with an entry. The header alone is not enough: a list of words may begin with vertices named
/// c, p, a or e.
bool begins_as_dimacs(input const& in) {
  constexpr std::string_view kinds[] = {"sp", "edge", "col"};
  silent_reader text(in);
  auto const header = next_fields(text.lines());
  if (header.size() != 4 || header[0] != "p" || !are_numbers(header, 2) ||
      std::find(std::begin(kinds), std::end(kinds), header[1]) == std::end(kinds))
    return false;
  auto const entry = next_fields(text.lines());
  return entry.empty() || is_dimacs_entry(entry);
}

/// Returns whether messages about a text should treat it as DIMACS: it has only comments, its
/// problem is of another kind, or an entry comes first. The text has no words for vertices.
bool resembles_dimacs(input const& in) {
  silent_reader text(in);
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

// Comments above the first line of data

struct first_lines {
  bool has_banner = false;   ///< "%%" begins the first line that is not empty
  bool has_percent = false;  ///< the first comment begins with '%', and is not KONECT's
  bool has_date = false;     ///< has a comment that networkx writes above adjacency lists
};

/// Returns whether the current comment is the first line of KONECT's edge lists, such as "% sym
/// unweighted".
bool is_konect(text_lines const& lines) {
  field_list const fields = fields_of(lines.rest(), blanks);
  if (fields.size() < 2 || fields[0] != "%") return false;
  if (fields[1] == "bip")
    lines.fail("KONECT's '% bip' numbers the vertices of the two sides apart",
               "give them different names; `--format edges` takes equal numbers for one vertex");
  return fields[1] == "sym" || fields[1] == "asym";
}

/// Moves to the first line of data. Fails if a banner is misspelt or misplaced.
first_lines read_comments(text_lines& lines, bool& has_data) {
  first_lines seen;
  bool is_first = true;
  for (has_data = lines.next(); has_data; has_data = lines.next(), is_first = false) {
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
                 "correct the banner; " + choose_format(is_first && line[0] == '%' && word == 1
                                                            ? graph_format::automatic
                                                            : graph_format::matrix_market));
    if (line[0] != '#' && line[0] != '%') return seen;
    seen.has_date = seen.has_date || line.starts_with("# GMT ");
    if (is_first) seen.has_percent = line[0] == '%' && !is_konect(lines);
  }
  return seen;
}

// Sizes above the edges

std::optional<std::uint64_t> number_of(std::string_view field) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) return {};
  return value;
}

std::string_view without_quotes(std::string_view word) {
  bool const quoted = word.size() > 1 && word.front() == '"' && word.back() == '"';
  return quoted ? word.substr(1, word.size() - 2) : word;
}

/// Returns the separator of a line's fields: commas, semicolons or tabs if the line has any, else
/// blanks.
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

/// Returns whether these are names of the first two columns in the tables that other tools write.
bool are_endpoint_names(field_list const& cells) {
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
  std::string const first = lower_case(names[0]), second = lower_case(names[1]);
  return std::any_of(std::begin(known), std::end(known),
                     [&](pair const& p) { return first == p[0] && second == p[1]; });
}

/// Returns whether the last name of a header stands for the number of edges, and not for a column.
bool counts_edges(std::string_view header) {
  constexpr std::string_view known[] = {"m", "e", "nnz"},
                             parts[] = {"edges", "arcs", "links", "entries", "nonzeros"};
  field_list const names = cells_of(header, mark_of(header));
  if (names.size() < 2 || names.size() > 3) return false;
  std::string const last = lower_case(names.back());
  return std::find(std::begin(known), std::end(known), last) != std::end(known) ||
         std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return last.find(part) != last.npos; });
}

/// Returns the numbers of a line, with any separators; none if a field is something else.
std::vector<std::uint64_t> numbers_of(std::string_view line) {
  std::vector<std::uint64_t> numbers;
  for (std::string_view const field : fields_of(line, marks)) {
    auto const value = number_of(without_quotes(field));
    if (!value) return {};
    numbers.push_back(*value);
  }
  return numbers;
}

/// Returns whether the current line looks like the sizes VERTICES EDGES or ROWS COLUMNS EDGES of a
/// graph. The last number must be the number of lines that follow, and the other numbers must bound
/// the ids, which count from 0 or from 1. For a square matrix whose ids count from 1 the number of
/// lines may differ.
bool are_sizes(text_lines& lines) {
  std::vector<std::uint64_t> const sizes = numbers_of(lines.rest());
  if (sizes.size() != 2 && sizes.size() != 3) return false;
  bool const matrix = sizes.size() == 3;
  std::uint64_t const rows = sizes[0], columns = matrix ? sizes[1] : rows, entries = sizes.back();
  if (rows == 0 || columns == 0) return false;
  std::uint64_t count = 0;
  bool has_zero = false, has_last = false;
  for (; next_data(lines); ++count) {
    field_list const fields = fields_of(lines.rest(), marks);
    if (fields.size() < 2) return false;
    auto const u = number_of(without_quotes(fields[0])), v = number_of(without_quotes(fields[1]));
    if (!u || !v || *u > rows || *v > columns) return false;
    has_zero = has_zero || *u == 0 || *v == 0;
    has_last = has_last || *u == rows || *v == columns;
    if (has_zero && has_last) return false;
    if (count >= entries && (has_zero || !matrix || rows != columns)) return false;
  }
  return count == entries || (matrix && rows == columns && !has_zero);
}

/// Fails if the first line of data, or the first one below a header, looks like sizes.
void require_no_sizes(input const& in, bool has_header) {
  silent_reader text(in), again(in);
  for (silent_reader* const g : {&text, &again}) {
    if (has_header) next_data(g->lines());
    if (!next_data(g->lines())) return;
  }
  if (are_sizes(again.lines()))
    text.lines().fail(
        quoted(text.lines().rest()) + " looks like the sizes of a graph above its edges",
        "leave it out, or write the banner of MatrixMarket above it; "
        "`--format edges` takes it for an edge");
}

/// Returns whether all rows have two fields, as edges without weights have.
bool are_pairs(input const& in) {
  silent_reader text(in);
  while (next_data(text.lines()))
    if (fields_of(text.lines().rest(), blanks).size() != 2) return false;
  return true;
}

/// Returns whether rows of three or four numbers could be adjacency lists, and not edges with
/// weights. Each row then begins with another vertex, and goes on with different vertices, which
/// also begin a row.
bool may_be_neighbours(input const& in) {
  silent_reader text(in);
  std::unordered_set<std::uint64_t> first;
  std::vector<std::uint64_t> neighbours;
  std::size_t length = 0;
  while (next_data(text.lines())) {
    std::vector<std::uint64_t> row = numbers_of(text.lines().rest());
    if (row.size() < 3 || row.size() > 4 || (length != 0 && row.size() != length)) return false;
    length = row.size();
    if (!first.insert(row[0]).second) return false;
    neighbours.insert(neighbours.end(), row.begin() + 1, row.end());
    std::sort(row.begin(), row.end());
    if (std::adjacent_find(row.begin(), row.end()) != row.end()) return false;
  }
  return std::all_of(neighbours.begin(), neighbours.end(),
                     [&](std::uint64_t v) { return first.contains(v); });
}

/// Returns whether all lines have the same number of fields, and no more than an edge can have.
bool has_equal_rows(input const& in) {
  silent_reader text(in);
  std::size_t first = 0;
  while (next_data(text.lines())) {
    std::size_t const n = fields_of(text.lines().rest(), blanks).size();
    if (n < 2 || n > 4 || (first != 0 && n != first)) return false;
    first = n;
  }
  return true;
}

/// Returns whether a text is a METIS graph, when '#' also marks comments.
bool is_metis(input const& in) {
  silent_reader text(in);
  try {
    return !read_metis(text.source(), "#%").sources.empty();
  } catch (graph_file_error const&) {
    return false;
  }
}

/// Returns the format of a text whose first line of data, the current line, begins with a number.
graph_format format_of_numbers(input const& in, text_lines& lines, bool has_percent) {
  std::string const line = quoted(lines.rest());
  if (lines.rest().find_first_of(",;{") != std::string_view::npos) {
    require_no_sizes(in, false);
    return graph_format::edges;
  }
  if (is_metis(in)) {
    if (!has_equal_rows(in)) return graph_format::metis;
    lines.fail("the lines from " + line + " on are a METIS graph, and a list of edges as well",
               "say which by `--format metis` or `--format edges`");
  }
  require_no_sizes(in, false);
  if (has_percent)
    lines.fail(
        "comments with '%' begin a MatrixMarket file, whose banner is missing, or METIS",
        "mark comments of a list of edges by '#'; " + choose_format(graph_format::matrix_market));
  if (may_be_neighbours(in))
    lines.fail(
        "the rows from " + line + " on could be edges with weights, or a vertex and its neighbours",
        "write neighbours as edges, one in a line; `--format edges` takes the third column "
        "for weights");
  return graph_format::edges;
}

/// Returns the end of the name after its last dot, in lower case. A final ".gz" is dropped first.
std::string extension(std::string name) {
  name = lower_case(name);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  std::size_t const dot = name.find_last_of("./");
  return dot == name.npos || name[dot] == '/' ? "" : name.substr(dot + 1);
}

}  // namespace

graph_format format_of_text(input const& in, bool words, char const* known) {
  silent_reader text(in);
  text_lines& lines = text.lines();
  bool has_data = false;
  first_lines const first = read_comments(lines, has_data);
  if (first.has_banner) return graph_format::matrix_market;
  std::string const end = extension(in.name);
  if (has_data && is_dimacs(in, lines.rest(), words)) return graph_format::dimacs;
  if (end == "mtx" || end == "mm")
    lines.fail("a file called ." + end + " without the banner '%%MatrixMarket matrix ...'",
               "write it as the first line; " + choose_format(graph_format::matrix_market));
  if (end == "graph" || end == "metis") return graph_format::metis;
  if (end == "gr" || end == "col" || end == "dimacs")
    lines.fail("a file called ." + end + " without a line 'p sp VERTICES ARCS' or the like",
               "write it above the edges; " + choose_format(graph_format::automatic));
  if (!has_data) return graph_format::edges;
  std::string_view const line = lines.rest();
  bool const number = (line[0] >= '0' && line[0] <= '9') || line[0] == '-';
  if (first.has_date && !are_pairs(in))
    lines.fail("the comment '# GMT' begins a list of neighbours of networkx, which is not read",
               "write edges by its write_edgelist; `--format edges` takes rows for edges");
  if (number) return format_of_numbers(in, lines, first.has_percent);
  std::string_view const header = header_of_list(in);
  if (words || !header.empty()) {
    if (header.empty() || counts_edges(header)) require_no_sizes(in, !header.empty());
    return graph_format::edges;
  }
  lines.fail("the line " + quoted(line) + " begins no graph",
             std::string(known) + "; " + choose_format(graph_format::automatic));
}

std::string_view header_of_list(input const& in) {
  constexpr int examined_rows = 1000;
  silent_reader text(in);
  text_lines& lines = text.lines();
  if (!next_data(lines)) return {};
  std::string_view const line = lines.rest();
  char const mark = mark_of(line);
  field_list const names = cells_of(line, mark);
  if (names.size() < 2 || std::any_of(names.begin(), names.end(), is_number)) return {};
  bool are_numbered = true;
  int rows = 0;
  for (; rows < examined_rows && next_data(lines); ++rows) {
    field_list const cells = cells_of(lines.rest(), mark);
    if (rows == 0 && names.size() > 2 && cells.size() > 2 && is_number(cells[2])) return line;
    are_numbered = are_numbered && cells.size() > 1 && is_number(cells[0]) && is_number(cells[1]);
  }
  return rows > 0 && (are_numbered || are_endpoint_names(names)) ? line : std::string_view();
}

}  // namespace karpos::perf::graph_input
