// SPDX-License-Identifier: Apache-2.0
/// \file
/// The validator accepts the sequential search's results, and detects every kind of error.
#include <doctest/doctest.h>

#include <functional>
#include <karpos/validate_bfs.hpp>

#include "support/check.hpp"
#include "support/host_graph.hpp"
#include "support/space.hpp"

namespace {

using karpos::bfs_defects;
using karpos_test::holds;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::sides;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;
using numbers = std::vector<std::uint64_t>;
using distances = std::vector<std::int32_t>;
using ids = std::vector<std::int64_t>;

template <class Vertex = std::uint32_t>
bfs_defects validate(host_graph const& g, numbers const& sources, distances const& d,
                     ids const& p) {
  using graph = karpos::csr_graph<Vertex, std::uint32_t, space::memory_space>;
  std::vector<std::uint32_t> const offsets(g.out.offsets.begin(), g.out.offsets.end());
  std::vector<Vertex> const columns(g.out.columns.begin(), g.out.columns.end());
  std::vector<Vertex> parents;
  for (std::int64_t const v : p) parents.push_back(static_cast<Vertex>(v));
  return karpos::validate_bfs(space(), graph(to_space(offsets), to_space(columns)),
                              to_space(std::vector<Vertex>(sources.begin(), sources.end())),
                              to_space(d), to_space(parents));
}

/// A claimed search result, which a test can corrupt.
struct claim {
  host_graph graph;
  numbers sources;
  distances d;
  ids p;

  claim(host_graph g, numbers from)
      : graph(std::move(g)),
        sources(std::move(from)),
        d(serial_bfs(graph, sources)),
        p(serial_parents(graph, d)) {}
  bfs_defects defects() const { return validate(graph, sources, d, p); }
  bfs_defects defects_without_parents() const { return validate(graph, sources, d, {}); }
};

/// Corrupts a copy; `kind` must be counted, and `first` be the first vertex with a defect.
void caught(std::string const& what, claim c, std::function<void(claim&)> const& spoil,
            std::uint64_t bfs_defects::*kind, std::uint64_t first) {
  holds(what + ": valid at first", c.defects().valid());
  spoil(c);
  bfs_defects const found = c.defects();
  holds(what + " is caught: " + found.to_string(), !found.valid());
  holds(what + " is counted as what it is: " + found.to_string(), found.*kind > 0);
  same(what + ", first vertex", found.first_vertex, first);
}
void caught_without_parents(std::string const& what, claim c,
                            std::function<void(claim&)> const& spoil,
                            std::uint64_t bfs_defects::*kind, std::uint64_t first) {
  c.p.clear();
  caught(what + ", without parents", c, spoil, kind, first);
}

/// 0 - 1 - 2 - 3 - 4, 1 - 5 - 3, 6 - 7, 8
claim example() {
  return {make_graph("example", 9, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 5}, {5, 3}, {6, 7}}), {0}};
}

}  // namespace

TEST_CASE("what the sequential search finds is valid") {
  CHECK(example().defects().valid());
  CHECK(example().defects().to_string() == "no defects");
  for (sides const kind : {sides::undirected, sides::directed}) {
    for (std::uint64_t const n : {1, 31, 32, 33, 1000}) {
      auto edges = karpos_test::random_edges(n, 2 * n, n);
      for (std::uint64_t v = 0; v < n; ++v) edges.emplace_back(n / 2, v);
      for (numbers const& from : {numbers{0}, numbers{0, n - 1, 0}, numbers{}}) {
        claim const c(make_graph("random", n, edges, kind), from);
        CHECK(c.defects().valid());
        CHECK(c.defects_without_parents().valid());
        CHECK(validate<std::uint64_t>(c.graph, c.sources, c.d, c.p).valid());
        CHECK(validate<std::int32_t>(c.graph, c.sources, c.d, c.p).valid());
      }
    }
  }
  CHECK(claim(make_graph("nothing", 0, {}), {}).defects().valid());
}

TEST_CASE("a vertex may be its own only source, or one of many") {
  claim const c(make_graph("path", 4, karpos_test::path_edges(4)), {1});
  view<std::int32_t> const d = to_space(c.d);
  karpos::csr_graph<std::int32_t, std::uint64_t, space::memory_space> const g(
      to_space(c.graph.out.offsets), to_space(std::vector<std::int32_t>{1, 0, 2, 1, 3, 2}));
  CHECK(karpos::validate_bfs(space(), g, 1, d).valid());
  CHECK(karpos::validate_bfs(space(), g, 2, d).sources == 1);
  CHECK(karpos::validate_bfs(space(), g, 2, d).roots == 1);
  CHECK(karpos::validate_bfs(space(), g, 2, d).first_vertex == 1);
}

TEST_CASE("sources and roots") {
  caught(
      "a source at distance 1", example(), [](claim& c) { c.d[0] = 1; }, &bfs_defects::sources, 0);
  caught(
      "a source that was not reached", example(), [](claim& c) { c.d[0] = -1, c.p[0] = -1; },
      &bfs_defects::sources, 0);
  caught(
      "a source with another parent", example(), [](claim& c) { c.p[0] = 1; },
      &bfs_defects::sources, 0);
  caught(
      "another vertex at distance 0", example(), [](claim& c) { c.d[5] = 0; }, &bfs_defects::roots,
      5);
  caught(
      "another vertex that is its own parent", example(), [](claim& c) { c.p[4] = 4; },
      &bfs_defects::roots, 4);
  caught(
      "a component without a source", example(),
      [](claim& c) { c.d[6] = 0, c.p[6] = 6, c.d[7] = 1, c.p[7] = 6; }, &bfs_defects::roots, 6);
  caught_without_parents(
      "another vertex at distance 0", example(), [](claim& c) { c.d[8] = 0; }, &bfs_defects::roots,
      8);
}

TEST_CASE("parents") {
  caught(
      "a missing parent", example(), [](claim& c) { c.p[3] = -1; }, &bfs_defects::parents, 3);
  caught(
      "a parent without a distance", example(), [](claim& c) { c.p[7] = 6; }, &bfs_defects::parents,
      7);
  caught(
      "a parent that is no vertex", example(), [](claim& c) { c.p[3] = 9; }, &bfs_defects::parents,
      3);
  caught(
      "a distance without a parent", example(), [](claim& c) { c.d[8] = 3; }, &bfs_defects::parents,
      8);
  caught(
      "a distance below -1", example(), [](claim& c) { c.d[8] = -2; }, &bfs_defects::distances, 8);
  caught(
      "a parent without an edge", example(), [](claim& c) { c.p[4] = 5, c.d[4] = 3; },
      &bfs_defects::tree_edges, 4);
  caught(
      "a parent of the same level", example(), [](claim& c) { c.p[5] = 2; }, &bfs_defects::levels,
      5);
  caught(
      "a child as a parent", example(), [](claim& c) { c.p[1] = 2; }, &bfs_defects::levels, 1);
  caught(
      "two parents of each other", example(),
      [](claim& c) { c.d[6] = 1, c.p[6] = 7, c.d[7] = 2, c.p[7] = 6; }, &bfs_defects::levels, 6);
  caught(
      "a circle of parents", {make_graph("triangle", 4, {{1, 2}, {2, 3}, {3, 1}}), {0}},
      [](claim& c) {
        c.d = {0, 1, 2, 3};
        c.p = {0, 3, 1, 2};
      },
      &bfs_defects::levels, 1);
}

TEST_CASE("distances") {
  caught(
      "a distance that is too small", example(), [](claim& c) { c.d[4] = 2; }, &bfs_defects::levels,
      4);
  caught(
      "a distance that is too large", example(), [](claim& c) { c.d[4] = 5; }, &bfs_defects::edges,
      3);
  caught(
      "the largest distance", example(), [](claim& c) { c.d[2] = 2147483647; }, &bfs_defects::edges,
      1);
  caught(
      "a detour",  // each one further than its parent, but 3 could be nearer
      {make_graph("ring", 6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}), {0}},
      [](claim& c) {
        c.d = {0, 1, 2, 3, 4, 5};
        c.p = {0, 0, 1, 2, 3, 4};
      },
      &bfs_defects::edges, 0);
  caught(
      "a vertex that was missed", example(), [](claim& c) { c.d[4] = -1, c.p[4] = -1; },
      &bfs_defects::edges, 3);
  caught_without_parents(
      "a vertex that was missed", example(), [](claim& c) { c.d[4] = -1; }, &bfs_defects::edges, 3);
  caught_without_parents(
      "a distance that is too small", example(), [](claim& c) { c.d[4] = 2; }, &bfs_defects::levels,
      4);
  caught_without_parents(
      "a distance that is too large", example(), [](claim& c) { c.d[4] = 5; }, &bfs_defects::levels,
      3);
  caught_without_parents(
      "a component that cannot be reached", example(), [](claim& c) { c.d[6] = 1, c.d[7] = 2; },
      &bfs_defects::levels, 6);
}

TEST_CASE("an edge is one way in a directed graph") {
  claim const c(make_graph("path", 4, karpos_test::path_edges(4), sides::directed), {1});
  CHECK(c.defects().valid());
  caught(
      "an edge against its direction", c, [](claim& x) { x.d[0] = 1, x.p[0] = 1; },
      &bfs_defects::tree_edges, 0);
  caught_without_parents(
      "an edge against its direction", c, [](claim& x) { x.d[0] = 1; }, &bfs_defects::levels, 0);
}

TEST_CASE("all kinds are reported") {
  claim c = example();
  c.d = {1, 0, 5, 2, 3, 2, -1, -3, -1};
  c.p = {0, 0, 1, 4, 0, 1, 3, -1, -1};
  std::string const text = c.defects().to_string();
  for (char const* word : {"1 sources", "1 other", "1 distances", "parents that are missing",
                           "parents without an edge", "one level after",
                           "edges that lead more than a level farther", "the first at vertex 0"})
    holds("'" + text + "' says '" + word + "'", text.find(word) != std::string::npos);
}

TEST_CASE("any single change of a distance, and any wrong parent, is caught") {
  random_numbers random(1);
  for (sides const kind : {sides::undirected, sides::directed}) {
    claim const good(make_graph("random", 200, karpos_test::random_edges(200, 300, 5), kind), {3});
    for (int i = 0; i < 400; ++i) {
      claim bad = good;
      std::uint64_t const v = random.below(200);
      bool const parent = i % 2 == 0;
      if (parent)
        bad.p[v] = static_cast<std::int64_t>(random.below(201)) - 1;
      else
        bad.d[v] = static_cast<std::int32_t>(random.below(12)) - 1;
      bool const right = bad.d == good.d && wrong_parents(bad.graph, {3}, bad.d, bad.p) == 0;
      CHECK(bad.defects().valid() == right);
      if (!parent) CHECK(bad.defects_without_parents().valid() == right);
    }
  }
}

TEST_CASE("a hub of a million edges") {
  constexpr std::uint64_t n = 1u << 20;
  claim c(make_graph("star", n, karpos_test::star_edges(n)), {0});
  CHECK(c.defects().valid());
  c.p[n - 1] = n - 2;
  CHECK(c.defects().tree_edges == 1);
  c.d.assign(n, 0);
  CHECK(c.defects().roots == n - 1);
}
