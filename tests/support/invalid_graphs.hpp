// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays that form no valid graph, for every function that reads graphs.
#pragma once

#include <cstdint>
#include <karpos/csr_graph.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// Invalid arrays, and what a message must say about them.
struct invalid_graph {
  std::vector<std::int64_t> offsets, columns;
  std::string place, why;
};

/// Returns invalid arrays that fit ids and offsets of any type.
inline std::vector<invalid_graph> invalid_graphs() {
  std::vector<invalid_graph> all{
      {{0, 1, 2, 3}, {1, 77, 0}, "edge 1 of", "from vertex 1 to 77, with 3 vertices"},
      {{0, 1, 2, 3}, {1, 3, 0}, "edge 1 of", "from vertex 1 to 3, with 3 vertices"},
      {{0, 1, 2, 3}, {2000000000, 1, 0}, "edge 0 of", "from vertex 0 to 2000000000"},
      {{0, 1, 2, 3}, {1, 0, -1}, "edge 2 of", "from vertex 2 to "},
      {{0, 0, 3, 3}, {1, 0, 5}, "edge 2 of", "from vertex 1 to 5"},
      {{0, 0, 0, 1}, {3}, "edge 0 of", "from vertex 2 to 3"},
      {{0, 2, 1, 3}, {1, 0, 2}, "row offset 2 of", "vertex 1 has the edges from 2 to 1, of 3"},
      {{0, 1, 5, 3}, {1, 0, 2}, "row offset 2 of", "vertex 1 has the edges from 1 to 5, of 3"},
      {{0, 3, 3, 2}, {1, 0}, "row offset 1 of", "vertex 0 has the edges from 0 to 3, of 2"},
      {{0, 1, 2, 4}, {1, 0, 2}, "row offset 3 of", "vertex 2 has the edges from 2 to 4, of 3"},
      {{0, 1, 1, 2}, {1, 0, 2}, "row offset 3 of", "vertex 2 has the edges from 1 to 2, of 3"},
      {{1, 1, 2, 3}, {1, 0, 2}, "row offset 0 of", "1 with 3 column indices"},
      {{0, -1, 2, 3}, {1, 0, 2}, "row offset 1 of", "vertex 0 has the edges from 0 to "},
      {{0, 1, 1, 0}, {1}, "row offset 3 of", "vertex 2 has the edges from 1 to 0, of 1"},
      {{0}, {0}, "row offset 0 of", "0 with 1 column indices"},
      {{3}, {}, "row offset 0 of", "3 with 0 column indices"},
      // A wrong offset is reported before a wrong edge.
      {{0, 1, 2, 2}, {9, 9, 9}, "row offset 3 of", "vertex 2 has the edges from 2 to 2, of 3"}};
  // One wrong edge at each of these places; each edge belongs to a vertex of its own.
  for (std::int64_t const wrong : {0, 1, 7, 8, 9, 15, 16, 39}) {
    invalid_graph path{{0}, {}, "edge " + std::to_string(wrong) + " of", {}};
    for (std::int64_t v = 0; v < 40; ++v) {
      path.offsets.push_back(v + 1);
      path.columns.push_back(v == wrong ? 40 : 39 - v);
    }
    path.why = "from vertex " + std::to_string(wrong) + " to 40, with 40 vertices";
    all.push_back(path);
    path.columns[static_cast<std::size_t>(wrong)] = -1;
    path.why = "from vertex " + std::to_string(wrong) + " to ";
    all.push_back(path);
  }
  // The message names the first of many wrong edges, or of many wrong offsets, whichever thread
  // finds it.
  invalid_graph ring;
  std::int64_t const n = 50000;
  for (std::int64_t v = 0; v < n; ++v) {
    ring.offsets.push_back(v);
    ring.columns.push_back(v < n / 3 ? (v + 1) % n : n + v);
  }
  ring.offsets.push_back(n);
  ring.place = "edge 16666 of";
  ring.why = "from vertex 16666 to 66666, with 50000 vertices";
  all.push_back(ring);
  for (std::int64_t v = n / 2; v < n; ++v) ring.offsets[static_cast<std::size_t>(v)] = n - v;
  ring.offsets[25000] = 7;
  ring.place = "row offset 25000 of";
  ring.why = "vertex 24999 has the edges from 24999 to 7, of 50000";
  all.push_back(ring);
  return all;
}

template <class Vertex, class Offset>
auto wrapped(invalid_graph const& g) {
  auto const cast = []<class T>(std::vector<std::int64_t> const& from, T) {
    std::vector<T> to;
    for (std::int64_t const x : from) to.push_back(static_cast<T>(x));
    return to_space(to);
  };
  return karpos::csr_graph<Vertex, Offset, space::memory_space>(cast(g.offsets, Offset()),
                                                                cast(g.columns, Vertex()));
}

/// Returns a valid graph with as many vertices and edges as g.
inline invalid_graph valid_graph_like(invalid_graph const& g) {
  invalid_graph some{std::vector<std::int64_t>(g.offsets.size(), 0),
                     std::vector<std::int64_t>(g.columns.size(), 0),
                     {},
                     {}};
  for (std::size_t v = 1; v < some.offsets.size(); ++v)
    some.offsets[v] = static_cast<std::int64_t>(g.columns.size());
  return some;
}

/// Checks that call(graph) rejects invalid graphs and names the first wrong place, in the rows of
/// the graph and in those of its transpose.
template <class Vertex, class Offset, class Call>
void rejects_invalid_graphs(Call const& call) {
  using refused = std::invalid_argument;
  for (invalid_graph const& g : invalid_graphs()) {
    auto const graph = wrapped<Vertex, Offset>(g);
    throws<refused>([&] { call(graph); }, "karpos", g.place + " the graph", g.why);
    throws<refused>([&] { call(graph.undirected()); }, g.place + " the graph", g.why);
    if (g.offsets.size() < 2) continue;
    auto const out = wrapped<Vertex, Offset>(valid_graph_like(g));
    throws<refused>([&] { call(out.with_transpose(graph)); }, g.place + " the transpose", g.why);
    throws<refused>([&] { call(out.trusted().with_transpose(graph)); }, "the transpose");
    throws<refused>([&] { call(graph.with_transpose(out.trusted())); }, "the graph");
  }
  // The first column belongs to no row. Algorithms work on this graph nevertheless, so trusted()
  // can be tested with it.
  auto const longer = wrapped<Vertex, Offset>({{1, 2, 3}, {1, 1, 0}, {}, {}});
  auto const refuses = [&](auto const& graph) {
    throws<refused>([&] { call(graph); }, "row offset 0 of the graph", "1 with 3 column indices");
  };
  refuses(longer);
  refuses(longer.trusted().with_transpose(longer));
  refuses(longer.with_transpose(longer.trusted()));
  if constexpr (karpos::detail::checks_always) {
    refuses(longer.trusted());
  } else {
    call(longer.trusted());
    call(longer.trusted().undirected());
    call(longer.undirected().trusted());
  }
}

}  // namespace karpos_test
