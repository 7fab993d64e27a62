// SPDX-License-Identifier: Apache-2.0
/// \file
/// Breadth-first searches of graphs with every type of ids and offsets.
#include <doctest/doctest.h>

#include "support/bfs_subject.hpp"

namespace {

using karpos_test::all_options;
using karpos_test::make_graph;
using karpos_test::sides;

template <class Vertex, class Offset>
void check_types() {
  auto edges = karpos_test::random_edges(3000, 9000, 1);
  for (std::uint64_t v = 0; v < 1500; ++v) edges.emplace_back(v % 3, 2 * v);  // some hubs
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
    auto const g = make_graph("random", 3000, edges, kind);
    karpos_test::check_searches<Vertex, Offset>(g, {{17}, {5, 2999, 5, 1}}, all_options());
  }
  auto const parts = make_graph("parts", 1000, karpos_test::random_edges(1000, 500, 2));
  karpos_test::check_searches<Vertex, Offset>(parts, {{999}, {}}, {karpos::bfs_options{}});
}

}  // namespace

TEST_CASE("ids of 32 bits, offsets of 32") { check_types<std::uint32_t, std::uint32_t>(); }
TEST_CASE("ids of 32 bits, offsets of 64") { check_types<std::uint32_t, std::uint64_t>(); }
TEST_CASE("ids of 64 bits, offsets of 32") { check_types<std::uint64_t, std::uint32_t>(); }
TEST_CASE("ids of 64 bits, offsets of 64") { check_types<std::uint64_t, std::uint64_t>(); }
TEST_CASE("signed ids") { check_types<std::int32_t, std::uint32_t>(); }

TEST_CASE("signed sources that are no vertices") {
  karpos_test::bfs_subject<std::int32_t, std::uint32_t> const path(
      make_graph("path", 5, karpos_test::path_edges(5)));
  std::uint64_t const minus_one = ~std::uint64_t(0);
  karpos_test::throws<std::invalid_argument>([&] { path.search({minus_one}); }, "no vertex",
                                             "the graph has 5");
  karpos_test::throws<std::invalid_argument>(
      [&] {
        path.search({2, minus_one, 1});
      },
      "1 sources", "the graph has 5");
}
