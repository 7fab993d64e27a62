// SPDX-License-Identifier: Apache-2.0
/// \file
/// Breadth-first searches of graphs with many narrow levels, in which teams explore several levels
/// before the grid synchronises: local searches. Tests shapes in which a local search ends early or
/// must undo what it has found.
#include <doctest/doctest.h>

#include "perf/measure/graph/edge_generators.hpp"
#include "support/bfs_subject.hpp"
#include "support/shapes.hpp"

namespace {

using karpos::bfs_direction;
using karpos::bfs_options;
using karpos_test::check_searches;
using karpos_test::edge_pairs;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::sides;
using karpos_test::space;
using numbers = std::vector<std::uint64_t>;
using subject = karpos_test::bfs_subject<std::uint32_t, std::uint64_t>;

/// Returns options that allow local searches.
std::vector<bfs_options> with_local_search() {
  bfs_options down;
  down.direction = bfs_direction::top_down;
  down.degree_classes = false;
  std::vector<bfs_options> all{bfs_options{}, down};
  for (std::uint32_t const hops : {1u, 3u}) all.emplace_back().local_search_hops = hops;
  if (karpos::device::has_grid_barrier<space>)
    all.emplace_back().driver = karpos::launch_mode::kernel_per_step;
  return all;
}
/// Returns these options, and two without local searches: Beamer's direction, and no hops.
std::vector<bfs_options> with_or_without_local_search() {
  auto all = with_local_search();
  all.emplace_back().direction = bfs_direction::beamer;
  all.emplace_back().local_search_hops = 0;
  return all;
}

numbers first(std::uint64_t count, std::uint64_t stride = 1) {
  numbers v(count);
  for (std::uint64_t i = 0; i < count; ++i) v[i] = i * stride;
  return v;
}

host_graph grid(std::string const& text) {
  auto const spec = karpos::perf::parse_generator(text);
  return make_graph(text, spec.vertices(),
                    karpos_test::drawn_edges(karpos::perf::grid_edges::of(spec)));
}

/// Returns `count` paths: vertex i * length + k is the k-th vertex of path i.
host_graph paths(std::uint64_t count, std::uint64_t length, sides kind) {
  edge_pairs edges;
  for (std::uint64_t i = 0; i < count; ++i)
    for (std::uint64_t k = 1; k < length; ++k)
      edges.emplace_back(i * length + k - 1, i * length + k);
  return make_graph(std::to_string(count) + " paths of " + std::to_string(length), count * length,
                    edges, kind);
}

/// Returns `idle` vertices without out-edges, then `busy` vertices with `leaves` neighbours each,
/// and a path from each neighbour on. In a search from the idle and busy vertices, one slice finds
/// all others.
host_graph lopsided(std::uint64_t idle, std::uint64_t busy, std::uint64_t leaves,
                    std::uint64_t length) {
  edge_pairs edges;
  std::uint64_t next = idle + busy;
  for (std::uint64_t b = 0; b < busy; ++b)
    for (std::uint64_t i = 0; i < leaves; ++i, next += length) {
      edges.emplace_back(idle + b, next);
      for (std::uint64_t k = 1; k < length; ++k) edges.emplace_back(next + k - 1, next + k);
    }
  return make_graph("lopsided", next, edges, sides::directed);
}

/// Returns a binary tree of the given depth below each root.
host_graph trees(std::uint64_t roots, int depth) {
  edge_pairs edges;
  std::uint64_t begin = 0, end = roots;
  for (int d = 0; d < depth; ++d) {
    std::uint64_t child = end;
    for (std::uint64_t v = begin; v < end; ++v)
      for (int i = 0; i < 2; ++i) edges.emplace_back(v, child++);
    begin = end;
    end = child;
  }
  return make_graph("trees", end, edges);
}

}  // namespace

TEST_CASE("grids") {
  for (char const* const text : {"grid:1x3000", "grid:2x1000,drop=0.1", "grid:40x40,drop=0.3",
                                 "grid:300x200,drop=0.3", "grid:100x400,drop=0.2,permute=1"}) {
    auto const g = grid(text);
    check_searches(g, {{g.some_leaf()}, {0, g.vertices - 1}, first(200, 5), first(600)},
                   with_or_without_local_search());
  }
}

TEST_CASE("as many slices as there are, one vertex less and one more") {
  for (std::uint64_t const n : {1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 2048})
    for (sides const kind : {sides::undirected, sides::directed})
      check_searches(paths(n, 40, kind), {first(n, 40)}, with_local_search());
}

TEST_CASE("as many hops as local searches have, one less and one more") {
  for (std::uint64_t const length :
       {15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 130})
    for (std::uint64_t const n : {1, 600})
      check_searches(paths(n, length, sides::directed), {first(n, length)}, with_local_search());
}

TEST_CASE("a frontier too wide for local searches") {
  std::uint64_t const widest =
      8 * 1024 * static_cast<std::uint64_t>(Kokkos::DefaultHostExecutionSpace().concurrency());
  for (std::uint64_t const n : {widest - 1, widest, widest + 1024})
    check_searches(paths(n, 3, sides::directed), {first(n, 3)}, {bfs_options{}});
}

TEST_CASE("a slice that finds more than its list holds") {
  for (std::uint64_t const length : {4, 17, 40})
    check_searches(lopsided(768, 256, 1, length), {first(1024)}, with_local_search());
  // The local search ends in its first hop.
  check_searches(lopsided(768, 256, 8, 1), {first(1024)}, with_local_search());
  check_searches(lopsided(1536, 512, 6, 30), {first(2048)}, with_local_search());
}

TEST_CASE("levels that grow fast") {
  check_searches(trees(1, 14), {{0}, {3}, {20000}}, with_local_search());
  check_searches(trees(700, 5), {first(700), {0}}, with_local_search());
}

TEST_CASE("hubs on the way of a local search, and at its end") {
  for (std::uint64_t const at : {10, 16, 17, 64, 100}) {
    edge_pairs edges = karpos_test::path_edges(400);
    for (std::uint64_t v = 400; v < 6000; ++v) edges.emplace_back(at, v);
    for (std::uint64_t v = 401; v < 6000; v += 3) edges.emplace_back(v - 1, v);
    check_searches(make_graph("a hub on a path", 6000, edges), {{0}, {399}, {at}, first(64, 6)},
                   with_local_search());
  }
}

TEST_CASE("distances that are lowered again") {
  // Shortcuts between distant parts of many paths: threads reach vertices whose distances other
  // threads have set too high.
  auto const base = paths(300, 60, sides::directed);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    edge_pairs edges = karpos_test::random_edges(base.vertices, 6000, seed);
    base.each_edge([&](std::uint64_t u, std::uint64_t v) { edges.emplace_back(u, v); });
    for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose})
      check_searches(make_graph("paths with shortcuts", base.vertices, edges, kind),
                     {first(300, 60), first(150, 120), {0}}, with_local_search());
  }
}

TEST_CASE("records of the levels within local searches") {
  auto const g = paths(200, 1100, sides::directed);
  auto const r = subject(g).search(first(200, 1100)).report;
  CHECK(r.levels == 1100);
  CHECK(r.visited == g.vertices);
  CHECK(r.edges_top_down == 200 * 1099);
  CHECK(r.first_bottom_up == -1);
  REQUIRE(r.level.size() == 1024);
  for (auto const& l : r.level)
    karpos_test::holds("200 vertices and edges on a level", l.vertices == 200 && l.edges == 200);
}

TEST_CASE("narrow levels in graphs of every size") {
  // The lists of a team have as many entries as there are vertices for each team: here from none to
  // many.
  for (std::uint64_t const length : {40, 100, 300, 1000, 3000})
    for (std::uint64_t const wide : {1, 7, 30}) {
      auto const g = paths(wide, length, sides::undirected);
      check_searches(g, {first(wide, length), {length / 2}}, {bfs_options{}});
    }
}

TEST_CASE("a path that opens into a tree, and shortcuts to it") {
  for (std::uint64_t const length : {20, 37, 90, 200}) {
    edge_pairs edges = karpos_test::path_edges(length);
    for (std::uint64_t v = 1; v < 8000; ++v)
      edges.emplace_back(length - 1 + (v - 1) / 3, length - 1 + v);
    for (std::uint64_t v = 0; v < 300; ++v)  // and paths that begin at its leaves
      for (std::uint64_t k = 0; k < 40; ++k)
        edges.emplace_back(k == 0 ? length + 7000 + v : length + 8000 + v * 40 + k - 1,
                           length + 8000 + v * 40 + k);
    std::uint64_t const n = length + 8000 + 300 * 40;
    for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose})
      check_searches(make_graph("opening", n, edges, kind), {{0}, {length / 2}},
                     with_local_search());
    edges.emplace_back(3, length + 5);
    check_searches(make_graph("opening with a shortcut", n, edges), {{0}, {n - 1}},
                   with_local_search());
  }
}

TEST_CASE("the same search again and again, from other sources in between") {
  auto const g = grid("grid:200x100,drop=0.3");
  subject const s(g);
  for (std::uint64_t v = 0; v < 40; ++v) {
    numbers const from = v % 2 == 0 ? numbers{v * 371} : first(300, v + 1);
    karpos_test::check_answer("search " + std::to_string(v), g, from, {}, serial_bfs(g, from),
                              s.search(from));
  }
}

TEST_CASE("combs, ladders, spirals and paths with a hub at their end, in every order of ids") {
  std::uint64_t const n = 6000;
  edge_pairs hub_at_the_end = karpos_test::path_edges(n / 2);
  for (std::uint64_t v = n / 2; v < n; ++v) hub_at_the_end.emplace_back(n / 2 - 1, v);
  std::pair<char const*, edge_pairs> const shapes[] = {
      {"comb", karpos_test::comb_edges(n)},
      {"ladder", karpos_test::ladder_edges(n)},
      {"spiral", karpos_test::spiral_edges(n)},
      {"path with a hub at its end", hub_at_the_end}};
  for (auto const& [name, edges] : shapes)
    for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
      check_searches(make_graph(name, n, edges, kind), {{0}, {n / 3}, first(100, 60)},
                     with_local_search());
      auto const mixed = karpos_test::shuffled(edges, n, 11);
      check_searches(make_graph(std::string(name) + ", shuffled", n, mixed, kind),
                     {{mixed[0].first}, first(100, 60)}, with_local_search());
    }
}

TEST_CASE("queues that overflow, of every length from one entry on") {
  // A team's queue holds its share of the vertices.
  auto const teams = static_cast<std::uint64_t>(karpos::device::processors(space()));
  for (std::uint64_t const capacity : {1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 64, 100, 128, 256}) {
    std::uint64_t const n = teams * capacity + 100;
    edge_pairs edges = karpos_test::path_edges(60);
    for (std::uint64_t v = 60; v + 40 < n; ++v)  // a tree with levels wider than any queue
      edges.emplace_back(v < 66 ? 59 : 60 + (v - 66) / 3, v);
    for (std::uint64_t v = n - 40; v < n; ++v) edges.emplace_back(v - 1, v);
    check_searches(make_graph("tree behind a path, capacity " + std::to_string(capacity), n, edges),
                   {{0}, {30}, {n - 1}}, with_local_search());
  }
}

TEST_CASE("local searches that fail at each of their hops") {
  for (std::uint64_t length = 17; length < 150; length += length < 90 ? 1 : 7) {
    edge_pairs edges = karpos_test::path_edges(length);
    for (std::uint64_t v = 1; v < 5000; ++v)
      edges.emplace_back(length - 1 + (v - 1) / 5, length - 1 + v);
    for (std::uint64_t v = 0; v < 50; ++v) edges.emplace_back(length + 4998 + v, length + 4999 + v);
    std::uint64_t const n = length + 5049;
    check_searches(make_graph("tree behind a path of " + std::to_string(length), n, edges), {{0}},
                   {bfs_options{}});
  }
}

TEST_CASE("narrow and wide levels in turns") {
  // Five paths of 40 vertices, each followed by 3,000 vertices that lead to the next path.
  edge_pairs edges;
  std::uint64_t at = 0;
  for (int turn = 0; turn < 5; ++turn) {
    for (std::uint64_t k = 0; k < 40; ++k) edges.emplace_back(at + k, at + k + 1);
    std::uint64_t const end = at + 40, next = end + 3001;
    for (std::uint64_t v = end + 1; v < next; ++v) {
      edges.emplace_back(v <= end + 60 ? end : end + 1 + (v - end - 61) % 60, v);
      if (v >= next - 100) edges.emplace_back(v, next);
    }
    at = next;
  }
  for (sides const kind : {sides::undirected, sides::with_transpose}) {
    check_searches(make_graph("in turns", at + 1, edges, kind), {{0}, {at}, {5000}},
                   with_or_without_local_search());
    auto const mixed = karpos_test::shuffled(edges, at + 1, 4);
    check_searches(make_graph("in turns, shuffled", at + 1, mixed, kind), {{mixed[0].first}},
                   with_local_search());
  }
}

TEST_CASE("rows are padded where that pays, once") {
  auto const path = paths(1, 5000, sides::undirected);
  subject deep(path);
  unsigned const pays = karpos::device::is_device<space> ? 1 : 0;
  std::uint64_t const at_each = pays * path.vertices;
  CHECK(deep.padded_bytes() == 0);
  CHECK(deep.pad_rows() == int(pays));
  CHECK(deep.pad_rows() == int(pays));
  CHECK(deep.padded_bytes() == 16 * at_each);
  CHECK(deep.pad_rows(2) == int(2 * pays));
  CHECK(deep.pad_rows(1) == int(2 * pays));  // the longer rows stay
  CHECK(deep.padded_bytes() == 80 * at_each);
  karpos_test::throws<std::invalid_argument>([&] { deep.pad_rows(3); }, "rows of 3 hops",
                                             "neither 1 nor 2");
  CHECK(subject(paths(1, 5000, sides::with_transpose)).pad_rows(2) == int(pays));
  subject dense(make_graph("star with a rim", 100, [] {
    edge_pairs edges;
    for (std::uint64_t v = 0; v < 100; ++v)
      for (std::uint64_t w = 0; w < v; ++w) edges.emplace_back(v, w);
    return edges;
  }()));
  CHECK(dense.pad_rows() == 0);
}
