// SPDX-License-Identifier: Apache-2.0
/// \file
/// Breadth-first searches of extreme graphs, and their reports: degrees at the limits of the degree
/// classes, hubs that the whole grid expands, thousands of levels.
#include <doctest/doctest.h>

#include "perf/measure/graph/edge_generators.hpp"
#include "support/bfs_subject.hpp"

namespace {

using karpos::bfs_direction;
using karpos::bfs_options;
using karpos_test::all_options;
using karpos_test::check_searches;
using karpos_test::edge_pairs;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::sides;
using numbers = std::vector<std::uint64_t>;
using subject = karpos_test::bfs_subject<std::uint32_t, std::uint64_t>;

/// Returns options that differ in how vertices of high degree are expanded.
std::vector<bfs_options> by_degree() {
  std::vector<bfs_options> some;
  for (auto const& o : all_options())
    if (!o.hub_cache && !o.unvisited_queue) some.push_back(o);
  return some;
}

/// Returns options for searches with many levels: both queues, and bottom-up throughout.
std::vector<bfs_options> few_options() {
  bfs_options scanned, up, up_queue;
  scanned.queue = karpos::bfs_queue::scanned;
  up.direction = bfs_direction::beamer;
  up.alpha = up.beta = 1e18;
  up_queue = up;
  up_queue.unvisited_queue = true;
  return {bfs_options{}, scanned, up, up_queue};
}

/// Returns a graph in which vertex 0 leads to vertices of the given degrees, which share their
/// leaves.
host_graph degrees_at_once(numbers const& degrees, sides kind) {
  edge_pairs edges;
  std::uint64_t const first_leaf = degrees.size() + 1;
  std::uint64_t most = 0;
  bool const back = kind == sides::undirected;  // the edge to vertex 0 counts
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    edges.emplace_back(0, i + 1);
    std::uint64_t const leaves = degrees[i] - (back ? 1 : 0);
    for (std::uint64_t leaf = 0; leaf < leaves; ++leaf)
      edges.emplace_back(i + 1, first_leaf + (7 * i + leaf) % 70000);
    most = std::max(most, leaves);
  }
  return make_graph("degrees", first_leaf + 70000, edges, kind);
}

host_graph graph_of(std::string const& text) {
  auto const spec = karpos::perf::parse_generator(text);
  return make_graph(text, spec.vertices(),
                    karpos_test::drawn_edges(karpos::perf::rmat_edges::of(spec)));
}

}  // namespace

TEST_CASE("degrees at the borders of the classes") {
  numbers const degrees{1, 31, 32, 33, 255, 256, 257, 65535, 65536, 65537, 31, 32, 255, 256};
  for (sides const kind : {sides::undirected, sides::with_transpose}) {
    auto const g = degrees_at_once(degrees, kind);
    for (std::size_t i = 0; i < degrees.size(); ++i) REQUIRE(g.degree(i + 1) == degrees[i]);
    check_searches(g, {{0}}, by_degree());
    check_searches(g, {{8}, {9, 10}, {60000}}, {bfs_options{}});
  }
}

TEST_CASE("a star that the whole grid expands") {
  auto const star = make_graph("star", 70001, karpos_test::star_edges(70001));
  check_searches(star, {{0}, {70000}}, by_degree());
  edge_pairs two = karpos_test::star_edges(70001);
  for (std::uint64_t v = 1; v < 70001; ++v) two.emplace_back(70001, v);
  check_searches(make_graph("two stars that share their rays", 70002, two), {{0}, {5}},
                 by_degree());
}

TEST_CASE("a path of 300 vertices") {
  auto const path = make_graph("path", 300, karpos_test::path_edges(300));
  check_searches(path, {{0}, {150}}, all_options());
}

TEST_CASE("more levels than a report holds") {
  auto const path = make_graph("path", 5000, karpos_test::path_edges(5000));
  check_searches(path, {{0}}, few_options());
  auto const r = subject(path).search({0}).report;
  CHECK(r.levels == 5000);
  CHECK(r.level.size() == 1024);
  CHECK(r.visited == 5000);
}

TEST_CASE("as many levels as a report holds, one less and one more") {
  for (std::uint64_t const n : {1023, 1024, 1025, 1026})
    check_searches(make_graph("path of " + std::to_string(n), n, karpos_test::path_edges(n)), {{0}},
                   few_options());
}

TEST_CASE("gamma switches to bottom-up at its fraction of the hubs, and for good") {
  auto const g = graph_of("kron:scale=12,ef=16,seed=1");
  subject const s(g);
  bfs_options o;
  o.direction = bfs_direction::gamma;
  std::uint64_t switched = 0;
  for (std::uint64_t v = 0; v < 64; ++v) {
    auto const r = s.search({v}, o).report;
    REQUIRE(r.hubs > 0);
    CHECK(r.first_top_down_again == -1);
    switched += r.first_bottom_up >= 0 ? 1 : 0;
    if (r.first_bottom_up < 0) continue;
    for (std::size_t l = 0; l <= static_cast<std::size_t>(r.first_bottom_up); ++l)
      CHECK((r.level[l].hubs > 0.3 * r.hubs) == (l == static_cast<std::size_t>(r.first_bottom_up)));
  }
  CHECK(switched > 0);
  o.gamma = 1;  // impossible: more than all hubs
  CHECK(s.search({g.some_leaf()}, o).report.first_bottom_up == -1);
}

TEST_CASE("hubs are the vertices above a degree, and their cache is hit") {
  auto const g = graph_of("kron:scale=12,ef=16,seed=1");
  subject const s(g);
  for (bool const queue : {false, true}) {
    bfs_options o;
    o.direction = bfs_direction::beamer;
    o.unvisited_queue = queue;
    o.hub_cache = true;
    auto const r = s.search({g.some_leaf()}, o).report;
    std::uint64_t above = 0;
    for (std::uint64_t v = 0; v < g.vertices; ++v) above += g.degree(v) > r.hub_degree ? 1 : 0;
    CHECK(r.hubs == above);
    CHECK(r.edges_bottom_up > 0);
    CHECK(r.hub_cache_hits > 0);
    CHECK(r.hub_cache_hits <= r.edges_bottom_up);
  }
}

TEST_CASE("bottom-up inspects fewer edges") {
  auto const g = graph_of("kron:scale=12,ef=16,seed=1");
  subject const s(g);
  bfs_options down;
  down.direction = bfs_direction::top_down;
  auto const all = s.search({g.some_leaf()}, down).report;
  CHECK(all.edges_bottom_up == 0);
  for (auto const d : {bfs_direction::automatic, bfs_direction::gamma, bfs_direction::beamer}) {
    bfs_options o;
    o.direction = d;
    auto const r = s.search({g.some_leaf()}, o).report;
    CHECK(r.first_bottom_up >= 0);
    CHECK(r.edges_top_down + r.edges_bottom_up < all.edges_top_down / 2);
  }
}
