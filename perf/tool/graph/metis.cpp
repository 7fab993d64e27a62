// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "perf/tool/graph/text_lines.hpp"

// Source: G. Karypis, METIS, A Software Package for Partitioning Unstructured Graphs, version 5,
// section 4.1.1. A header "VERTICES EDGES [FMT [NCON]]" precedes a row for each vertex: its size,
// its NCON weights, and its neighbours, each with the weight of the edge. FMT says which of these
// are present. Ids count from 1. An edge is in the rows of both ends, and a vertex without
// neighbours has an empty row.

namespace karpos::perf::graph_input {
namespace {

struct metis_header {
  std::uint64_t vertices = 0, edges = 0;
  std::uint64_t vertex_numbers = 0;  ///< of each row, before the neighbours: size and weights
  bool has_weights = false;          ///< of edges
};

/// Fails if the current line is a comment of another format: no row begins with '#'.
void require_no_hash(text_lines const& lines) {
  if (lines.at('#'))
    lines.fail("a comment with '#', but METIS marks comments by '%'",
               "write '%' in its place; " + choose_format(graph_format::metis));
}

metis_header read_header(text_lines& lines, std::string_view comment_marks) {
  if (!lines.next_data(comment_marks))
    lines.fail("no line 'VERTICES EDGES' of a METIS graph", "check that the file is whole");
  require_no_hash(lines);
  metis_header h;
  h.vertices = lines.read_count("the number of vertices");
  h.edges = lines.read_count("the number of edges");
  std::string const fmt = lines.at_end() ? "0" : std::string(lines.read_field("the format"));
  if (fmt.size() > 3 || fmt.find_first_not_of("01") != fmt.npos)
    lines.fail("the format " + quoted(fmt) + " of METIS",
               "write up to three digits, each 0 or 1: vertex sizes, vertex weights, edge weights");
  auto const flag = [&](std::size_t place) {
    return fmt.size() > place && fmt[fmt.size() - 1 - place] == '1';
  };
  std::uint64_t const ncon = lines.at_end() ? 1 : lines.read_count("the number of vertex weights");
  lines.expect_end("a METIS header has at most four numbers; " +
                   choose_format(graph_format::metis));
  h.has_weights = flag(0);
  h.vertex_numbers = (flag(1) ? std::max<std::uint64_t>(ncon, 1) : 0) + (flag(2) ? 1 : 0);
  if (h.vertices > max_vertices)
    lines.fail(std::to_string(h.vertices) + " vertices, but ids must fit into 32 bits",
               "split the graph");
  std::uint64_t const available = lines.bytes_left() + 1;
  if (h.vertices > available || h.edges > available || h.vertex_numbers > available)
    lines.fail("the header announces " + std::to_string(h.vertices) + " rows and " +
                   std::to_string(h.edges) + " edges, but only " +
                   std::to_string(lines.bytes_left()) + " bytes follow",
               "check that the file is whole; " + choose_format(graph_format::metis));
  return h;
}

/// Reads the rows after a header, and calls visit(u, v, weight) for each neighbour v of u.
template <class Visit>
void read_rows(text_lines& lines, metis_header const& h, std::string_view comment_marks,
               Visit const& visit) {
  std::uint64_t entries = 0;
  std::vector<double> weight;
  for (std::uint64_t u = 0; u < h.vertices; ++u) {
    if (!lines.next_row(comment_marks))
      lines.fail("the file ends after " + std::to_string(u) + " of the " +
                     std::to_string(h.vertices) + " rows that the header announces",
                 "check that the file is whole; a vertex without neighbours has an empty row");
    require_no_hash(lines);
    for (std::uint64_t i = 0; i < h.vertex_numbers; ++i)
      lines.skip_value("the size or weight of the vertex");
    while (!lines.at_end()) {
      std::uint32_t const v = lines.read_id(1, h.vertices);
      if (v == u)
        lines.fail("vertex " + std::to_string(u + 1) + " is its own neighbour",
                   "METIS has no such edges, remove it; " + choose_format(graph_format::metis));
      weight.assign(1, 0);
      if (h.has_weights) {
        weight.clear();
        lines.read_value("the weight of the edge", weight);
      }
      if (++entries > 2 * h.edges)
        lines.fail("more neighbours than the two for each of the " + std::to_string(h.edges) +
                       " edges of the header",
                   "correct the header; " + choose_format(graph_format::metis));
      visit(static_cast<std::uint32_t>(u), v, weight.empty() ? 0.0 : weight[0]);
    }
  }
  if (lines.next_data(comment_marks)) {
    require_no_hash(lines);
    lines.fail("more rows than the " + std::to_string(h.vertices) + " of the header",
               "correct the header; " + choose_format(graph_format::metis));
  }
  if (entries != 2 * h.edges)
    lines.fail("the rows have " + std::to_string(entries) + " neighbours, but " +
                   std::to_string(h.edges) +
                   " edges of the header, each in the rows of both ends, " + "are " +
                   std::to_string(2 * h.edges),
               "check that the file is whole, or correct the header");
}

/// Returns a hash of a directed edge.
std::uint64_t scrambled(std::uint64_t u, std::uint64_t v, double weight) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &weight, sizeof(bits));
  std::uint64_t x = ((u << 32 | v) + bits * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

/// Fails with a message about the first edge that is in the row of one end only. Requires: there is
/// such an edge.
[[noreturn]] void fail_one_way(input const& in, std::string_view comment_marks) {
  graph_progress const silent;
  input const again{in.bytes, in.name, silent, 0, in.options};
  text_lines lines(again);
  using entry = std::tuple<std::uint32_t, std::uint32_t, double>;
  std::vector<entry> entries, reversed;
  metis_header const h = read_header(lines, comment_marks);
  read_rows(lines, h, comment_marks, [&](std::uint32_t u, std::uint32_t v, double weight) {
    entries.emplace_back(u, v, weight);
    reversed.emplace_back(v, u, weight);
  });
  std::sort(entries.begin(), entries.end());
  std::sort(reversed.begin(), reversed.end());
  auto const differ = std::mismatch(entries.begin(), entries.end(), reversed.begin());
  // The smaller of the two differing entries is in one list only: it is an entry, or the reverse of
  // one.
  bool const is_entry = differ.first != entries.end() && *differ.first < *differ.second;
  entry e = is_entry ? *differ.first : *differ.second;
  if (!is_entry) std::swap(std::get<0>(e), std::get<1>(e));
  auto const [u, v, weight] = e;

  text_lines rows(again);
  read_header(rows, comment_marks);
  for (std::uint64_t row = 0; row <= u; ++row) rows.next_row(comment_marks);
  std::string const neighbour = std::to_string(v + std::uint64_t(1));
  rows.fail("vertex " + std::to_string(u + std::uint64_t(1)) + " has the neighbour " + neighbour +
                ", but the row of " + neighbour + " lacks it, or has another weight",
            "write each edge into the rows of both ends; " + choose_format(graph_format::metis));
}

}  // namespace

edge_list read_metis(input const& in, std::string_view comment_marks) {
  text_lines lines(in);
  metis_header const h = read_header(lines, comment_marks);
  edge_list edges;
  edges.vertices = h.vertices;
  edges.undirected = true;
  std::uint64_t forward = 0, backward = 0;
  bool const weights = h.has_weights && in.options.weights;
  read_rows(lines, h, comment_marks, [&](std::uint32_t u, std::uint32_t v, double weight) {
    forward += scrambled(u, v, weight);
    backward += scrambled(v, u, weight);
    if (u > v) return;
    edges.sources.push_back(u);
    edges.targets.push_back(v);
    if (weights) edges.weights.push_back(weight);
  });
  if (forward != backward) fail_one_way(in, comment_marks);
  return edges;
}

}  // namespace karpos::perf::graph_input
