// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <string>

#include "perf/measure/support/text.hpp"
#include "perf/tool/graph/announced.hpp"
#include "perf/tool/graph/matrix_market.hpp"

// Source: R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats, NISTIR 5935
//   (1996).

namespace karpos::perf::graph_input {
namespace {

std::string read_lower(text_lines& lines, char const* what) {
  return lower_case(lines.read_field(what));
}

/// Checks that a word of the banner is one of the choices. Returns its position among them.
std::ptrdiff_t choose(text_lines const& lines, std::string const& word, char const* what,
                      std::initializer_list<std::string_view> choices) {
  auto const* const found = std::find(choices.begin(), choices.end(), word);
  if (found != choices.end()) return found - choices.begin();
  std::string list;
  for (std::string_view const c : choices) list += (list.empty() ? "" : ", ") + std::string(c);
  lines.fail(quoted(word) + " in the place of " + what, "graphs are read with: " + list);
}
std::ptrdiff_t read_word(text_lines& lines, char const* what,
                         std::initializer_list<std::string_view> choices) {
  std::string const word = read_lower(lines, what);
  return choose(lines, word, what, choices);
}

matrix_header read_banner(text_lines& lines) {
  matrix_header b;
  std::string const mark = read_lower(lines, "the mark of MatrixMarket");
  if (mark != "%%matrixmarket" && mark != "%matrixmarket")
    lines.fail(
        quoted(mark) + " in the place of '%%MatrixMarket'",
        "write the banner as the first line: '%%MatrixMarket matrix coordinate real general' "
        "or the like; " +
            choose_format(graph_format::matrix_market));
  read_word(lines, "the object", {"matrix"});
  std::string const storage = read_lower(lines, "the storage");
  if (storage == "array")
    lines.fail("a dense matrix, storage 'array', is no graph", "write it as 'coordinate'");
  choose(lines, storage, "the storage", {"coordinate"});
  constexpr int values[] = {0, 1, 1, 1, 2};
  b.values = values[read_word(lines, "the field",
                              {"pattern", "real", "integer", "unsigned-integer", "complex"})];
  auto const symmetry =
      read_word(lines, "the symmetry", {"general", "symmetric", "skew-symmetric", "hermitian"});
  b.undirected = symmetry != 0;
  lines.expect_end();
  if (!lines.source().options.weights) return b;
  constexpr char advice[] = "draw weights by `--random-weights`";
  if (b.values == 2) lines.fail("complex values are no weights", advice);
  if (b.values == 1 && symmetry == 2)
    lines.fail("a skew-symmetric matrix has as many negative values as positive ones", advice);
  return b;
}

}  // namespace

matrix_header read_matrix_header(text_lines& lines) {
  lines.next();
  matrix_header header = read_banner(lines);
  if (!lines.next_data("%")) lines.fail("no line of sizes", "check that the file is whole");
  header.rows = lines.read_count("the number of rows");
  header.columns = lines.read_count("the number of columns");
  header.entries = lines.read_count("the number of entries");
  lines.expect_end();
  return header;
}

edge_list read_matrix_market(input const& in) {
  text_lines lines(in);
  matrix_header const b = read_matrix_header(lines);
  if (b.rows != b.columns)
    lines.fail("a matrix of " + std::to_string(b.rows) + " by " + std::to_string(b.columns) +
                   " is no graph",
               "choose a square one");
  announced_edges edges(lines, b.rows, b.entries, std::size_t(4) + 2 * std::size_t(b.values));
  while (lines.next_data("%")) {
    edges.read_ids(lines);
    for (int i = 0; i < b.values; ++i) edges.read_value(lines, "the value");
    lines.expect_end();
  }
  return edges.finish(lines, b.undirected);
}

}  // namespace karpos::perf::graph_input
