// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "perf/tool/graph/announced.hpp"

// Source: the formats of the DIMACS implementation challenges on shortest paths (9th) and colouring
// (2nd).

namespace karpos::perf::graph_input {
namespace {

/// Reads the problem line. Returns whether edges are undirected: "p sp" has arcs "a u v w"; "p
/// edge" and "p col" have undirected edges "e u v".
bool read_problem(text_lines& lines) {
  if (lines.read_field("the kind of the line") != "p")
    lines.fail("an entry before the line 'p sp VERTICES ARCS' or 'p edge VERTICES EDGES'",
               "check that the file is whole");
  std::string_view const kind = lines.read_field("the kind of the problem");
  if (kind != "sp" && kind != "edge" && kind != "col")
    lines.fail("the problem " + quoted(kind), "graphs are read with: sp, edge, col");
  return kind != "sp";
}

/// Returns whether a line of a generated colouring problem describes a drawing and not an edge:
/// dimension, positions, parameters.
bool is_drawing(std::string_view kind) { return kind == "d" || kind == "v" || kind == "x"; }

}  // namespace

edge_list read_dimacs(input const& in) {
  text_lines lines(in);
  if (!lines.next_data("c")) lines.fail("nothing but comments", "check that the file is whole");
  bool const undirected = read_problem(lines);
  std::uint64_t const vertices = lines.read_count("the number of vertices");
  std::uint64_t const entries = lines.read_count("the number of edges");
  lines.expect_end();
  std::string_view const mark = undirected ? "e" : "a";
  announced_edges edges(lines, vertices, entries, 6);
  while (lines.next_data("c")) {
    std::string_view const kind = lines.read_field("the kind of the line");
    if (kind == "n") {  // the weight or the role of a vertex
      lines.read_id(1, vertices);
      continue;
    }
    if (undirected && is_drawing(kind)) continue;
    if (kind != mark)
      lines.fail("a line of the kind " + quoted(kind) + " among those of the kind '" +
                     std::string(mark) + "'",
                 "remove it");
    edges.read_ids(lines);
    if (!undirected && in.options.weights && lines.at_end())
      lines.fail("the arc has no weight, as each of 'p sp' must have",
                 "write one, or draw weights by `--random-weights`");
    edges.read_optional_weight(lines);
    lines.expect_end();
  }
  return edges.finish(lines, undirected);
}

}  // namespace karpos::perf::graph_input
