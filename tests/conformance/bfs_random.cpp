// SPDX-License-Identifier: Apache-2.0
/// \file
/// Breadth-first searches of random graphs compared with the sequential search, with every
/// combination of options.
#include <doctest/doctest.h>

#include "perf/measure/graph/edge_generators.hpp"
#include "support/bfs_subject.hpp"

namespace {

using karpos_test::all_options;
using karpos_test::check_searches;
using karpos_test::edge_pairs;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::print;
using karpos_test::random_edges;
using karpos_test::random_numbers;
using karpos_test::sides;
using numbers = std::vector<std::uint64_t>;

/// Returns the edges that a generator of the driver draws, with self loops and duplicates.
template <class List>
host_graph drawn(std::string const& text, sides kind = sides::undirected) {
  auto const spec = karpos::perf::parse_generator(text);
  return make_graph(text, spec.vertices(), karpos_test::drawn_edges(List::of(spec)), kind);
}
host_graph kron(std::string const& settings, sides kind = sides::undirected) {
  return drawn<karpos::perf::rmat_edges>("kron:" + settings, kind);
}

/// Returns sources: the vertex with the most edges, an isolated vertex if there is one, and a few
/// random ones.
std::vector<numbers> some_sources(host_graph const& g, int count) {
  random_numbers random(g.vertices);
  std::uint64_t hub = 0;
  for (std::uint64_t v = 0; v < g.vertices; ++v)
    if (g.degree(v) > g.degree(hub)) hub = v;
  std::vector<numbers> sources{{hub}};
  for (std::uint64_t v = 0; v < g.vertices; ++v)
    if (g.degree(v) == 0) {
      sources.push_back({v});
      break;
    }
  while (static_cast<int>(sources.size()) < count) sources.push_back({random.below(g.vertices)});
  return sources;
}

void check_sources(host_graph const& g, int sources) {
  check_searches(g, some_sources(g, sources), all_options());
}

}  // namespace

TEST_CASE("the generators of the driver") {
  check_sources(kron("scale=11,ef=16,seed=3"), 4);
  check_sources(kron("scale=10,ef=64,seed=4"), 2);
  check_sources(kron("scale=13,ef=4,seed=5,permute=0"), 3);
  check_sources(drawn<karpos::perf::rmat_edges>("rmat:scale=12,ef=8,seed=7"), 3);
  check_sources(drawn<karpos::perf::uniform_edges>("uniform:scale=12,ef=8,seed=9"), 3);
  check_sources(drawn<karpos::perf::uniform_edges>("uniform:scale=12,ef=1,seed=11"), 3);
  check_sources(drawn<karpos::perf::grid_edges>("grid:60x70,seed=1"), 2);
  check_sources(drawn<karpos::perf::grid_edges>("grid:60x70,drop=0.3,seed=13,permute=1"), 3);
}

TEST_CASE("larger graphs") {
  check_sources(kron("scale=15,ef=16,seed=41"), 1);
  check_sources(drawn<karpos::perf::grid_edges>("grid:100x300,drop=0.2,seed=43"), 1);
}

TEST_CASE("directed graphs, with and without a transpose") {
  for (sides const kind : {sides::directed, sides::with_transpose}) {
    check_sources(kron("scale=11,ef=8,seed=17", kind), 4);
    check_sources(drawn<karpos::perf::uniform_edges>("uniform:scale=12,ef=3,seed=19", kind), 3);
  }
}

TEST_CASE("without a transpose a search stays top-down") {
  auto const g = kron("scale=10,ef=16,seed=1", sides::directed);
  karpos_test::bfs_subject<std::uint32_t, std::uint64_t> const subject(g);
  for (auto const& o : all_options()) {
    auto const r = subject.search({g.some_leaf()}, o).report;
    CHECK(r.visited > 100);
    CHECK(!r.bottom_up_available);
    CHECK(r.first_bottom_up == -1);
    CHECK(r.edges_bottom_up == 0);
  }
}

TEST_CASE("many sources, some of them twice and some isolated") {
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
    auto const g = kron("scale=11,ef=2,seed=23", kind);
    random_numbers random(29);
    numbers few, many;
    for (int i = 0; i < 5; ++i) few.push_back(random.below(g.vertices));
    few.push_back(few[2]);
    for (int i = 0; i < 1500; ++i) many.push_back(random.below(g.vertices));
    check_searches(g, {few, many}, all_options());
  }
}

TEST_CASE("numbers of vertices around those of words") {
  for (std::uint64_t const n : {31, 32, 33, 63, 64, 65, 1023, 1024, 1025})
    check_sources(make_graph("random of " + std::to_string(n), n, random_edges(n, 2 * n, n)), 2);
}

TEST_CASE("one workspace, any order of options and sources") {
  auto const g = kron("scale=10,ef=8,seed=31");
  karpos_test::bfs_subject<std::uint32_t, std::uint64_t> const subject(g);
  auto const options = all_options();
  random_numbers random(37);
  for (int i = 0; i < 300; ++i) {
    numbers from(1 + random.below(3));
    for (auto& s : from) s = random.below(g.vertices);
    auto const& o = options[random.below(options.size())];
    check_answer("search " + std::to_string(i) + ", " + print(from) + ", " + print(o), g, from, o,
                 serial_bfs(g, from), subject.search(from, o));
  }
}
