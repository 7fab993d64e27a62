// SPDX-License-Identifier: Apache-2.0
/// \file
/// Breadth-first searches of graphs with known answers, with every combination of options.
#include <doctest/doctest.h>

#include "support/bfs_subject.hpp"

namespace {

using karpos_test::all_options;
using karpos_test::check_searches;
using karpos_test::edge_pairs;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::print;
using karpos_test::sides;
using numbers = std::vector<std::uint64_t>;
using distances = std::vector<std::int32_t>;
using subject = karpos_test::bfs_subject<std::uint32_t, std::uint64_t>;

/// Checks the answer that the test states, and everything else that is checked of a search.
void golden(host_graph const& g, numbers const& sources, distances const& expected) {
  subject const s(g);
  for (auto const& o : all_options()) {
    auto const a = s.search(sources, o);
    karpos_test::holds(g.name + ", " + print(sources) + ", " + print(o), a.distance == expected);
  }
  check_searches(g, {sources}, all_options());
}

}  // namespace

TEST_CASE("graphs without vertices") {
  subject const s(make_graph("nothing", 0, {}));
  auto const a = s.search({});
  CHECK(a.report.visited == 0);
  CHECK(a.report.levels == 0);
  CHECK(a.report.level.empty());
  CHECK(a.defects.valid());
  golden(make_graph("nothing", 0, {}), {}, {});
}

TEST_CASE("one vertex") {
  golden(make_graph("one", 1, {}), {0}, {0});
  golden(make_graph("one with a self loop", 1, {{0, 0}}), {0}, {0});
  golden(make_graph("one with self loops", 1, {{0, 0}, {0, 0}}, sides::with_transpose), {0}, {0});
}

TEST_CASE("two vertices") {
  golden(make_graph("two", 2, {}), {1}, {-1, 0});
  golden(make_graph("pair", 2, {{0, 1}}), {0}, {0, 1});
  golden(make_graph("pair", 2, {{0, 1}}), {1}, {1, 0});
  golden(make_graph("arrow", 2, {{0, 1}}, sides::directed), {0}, {0, 1});
  golden(make_graph("arrow", 2, {{0, 1}}, sides::directed), {1}, {-1, 0});
  golden(make_graph("arrow", 2, {{0, 1}}, sides::with_transpose), {0}, {0, 1});
  golden(make_graph("arrow", 2, {{0, 1}}, sides::with_transpose), {1}, {-1, 0});
}

TEST_CASE("four vertices") {
  golden(make_graph("square", 4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), {0}, {0, 1, 2, 1});
  golden(make_graph("paw", 4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}), {3}, {2, 2, 1, 0});
  golden(make_graph("diamond", 4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, sides::with_transpose), {0},
         {0, 1, 1, 2});
}

TEST_CASE("a path of five") {
  golden(make_graph("path", 5, karpos_test::path_edges(5)), {0}, {0, 1, 2, 3, 4});
  golden(make_graph("path", 5, karpos_test::path_edges(5)), {2}, {2, 1, 0, 1, 2});
  golden(make_graph("path", 5, karpos_test::path_edges(5), sides::directed), {2},
         {-1, -1, 0, 1, 2});
}

TEST_CASE("a star and a clique") {
  golden(make_graph("star", 6, karpos_test::star_edges(6)), {0}, {0, 1, 1, 1, 1, 1});
  golden(make_graph("star", 6, karpos_test::star_edges(6)), {4}, {1, 2, 2, 2, 0, 2});
  golden(make_graph("clique", 5, karpos_test::clique_edges(5)), {3}, {1, 1, 1, 0, 1});
}

TEST_CASE("levels of vertices that lead nowhere") {
  for (sides const kind : {sides::directed, sides::with_transpose})
    golden(make_graph("rays", 6, karpos_test::star_edges(6), kind), {0}, {0, 1, 1, 1, 1, 1});
}

TEST_CASE("two components") {
  edge_pairs const two{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}};
  golden(make_graph("two components", 7, two), {0}, {0, 1, 2, -1, -1, -1, -1});
  golden(make_graph("two components", 7, two), {5}, {-1, -1, -1, 1, 1, 0, -1});
  golden(make_graph("two components", 7, two), {6}, {-1, -1, -1, -1, -1, -1, 0});
}

TEST_CASE("self loops and multi-edges") {
  edge_pairs const loops{{0, 0}, {0, 1}, {0, 1}, {0, 1}, {1, 1}, {2, 3}, {3, 3}, {1, 3}, {3, 1}};
  golden(make_graph("loops", 5, loops), {0}, {0, 1, 3, 2, -1});
  golden(make_graph("loops", 5, loops, sides::with_transpose), {0}, {0, 1, -1, 2, -1});
  golden(make_graph("loops", 5, loops, sides::directed), {2}, {-1, 2, 0, 1, -1});
}

TEST_CASE("several sources") {
  auto const path = make_graph("path", 8, karpos_test::path_edges(7));
  golden(path, {0, 6}, {0, 1, 2, 3, 2, 1, 0, -1});
  golden(path, {6, 0, 6, 6, 0}, {0, 1, 2, 3, 2, 1, 0, -1});
  golden(path, {7, 3}, {3, 2, 1, 0, 1, 2, 3, 0});
  golden(path, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 0, 0, 0, 0, 0, 0, 0});
  golden(path, {}, distances(8, -1));
}
