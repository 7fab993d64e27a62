// SPDX-License-Identifier: Apache-2.0
/// \file
/// Searches of random graphs over ranks, with random options, sources and blocks, compared with the
/// sequential search. If each rank has its own device and the devices address each other, each
/// search also runs as one kernel.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/random_shapes.hpp"
#include "tests/distributed/bfs_searches.hpp"

namespace {
using namespace karpos_test;

/// Returns the edges without loops and without duplicates.
edge_pairs simple(edge_pairs edges, sides kind) {
  std::erase_if(edges, [](auto const& e) { return e.first == e.second; });
  if (kind == sides::undirected)
    for (auto& [u, v] : edges)
      if (u > v) std::swap(u, v);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Returns random block lengths for all ranks, many of them 0; or nothing, for blocks with about
/// equal numbers of edges.
numbers draw_blocks(communicator const& ranks, std::uint64_t n, random_numbers& random) {
  numbers begins;
  if (random.below(2) == 0) return begins;
  for (int r = 1; r < ranks.size(); ++r) begins.push_back(random.below(n / 32 + 1) * 32);
  begins.push_back(0);
  std::sort(begins.begin(), begins.end());
  begins.push_back(n);
  return begins;
}

karpos::bfs_options draw_options(random_numbers& random) {
  karpos::bfs_options o;
  o.direction = static_cast<karpos::bfs_direction>(random.below(4));
  o.degree_classes = random.below(2) == 0;
  o.local_search_hops = static_cast<std::uint32_t>(random.below(3)) * 32;
  o.gamma = static_cast<double>(random.below(4)) * 0.2;
  o.alpha = random.below(3) == 0 ? 1e18 : 15;  // 1e18: bottom-up from the first level on
  o.beta = random.below(3) == 0 ? 0 : 18;      // 0: top-down again as soon as levels shrink
  if (random.below(2) == 0) o.queue = karpos::bfs_queue::collected;
  return o;
}

/// Draws a vertex; one in four is among the last three, which are isolated.
std::uint64_t draw_vertex(std::uint64_t n, random_numbers& random) {
  return random.below(4) == 0 ? n - 1 - random.below(3) : random.below(n);
}

/// A graph distributed over all ranks, and on the host.
struct drawn_graph {
  host_graph host;
  dist::csr_graph<id, std::uint64_t, memory> rows;

  drawn_graph(communicator const& ranks, std::uint64_t shape, std::uint64_t size,
              random_numbers& random) {
    auto const drawn = draw_shape(shape, size, random);
    std::uint64_t const n = drawn.vertices + 3 + random.below(70);
    auto const kind = static_cast<sides>(random.below(3));
    host = make_graph(drawn.name, n, simple(drawn.edges, kind), kind);
    auto const mine =
        part_of(ranks, drawn.edges, random.below(2) == 0 ? placement::spread : placement::on_last);
    dist::csr_options const options{{.symmetrise = kind == sides::undirected},
                                    draw_blocks(ranks, n, random)};
    rows = dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets), options);
    if (kind == sides::with_transpose) rows = rows.with_transpose(dist::transpose(ranks, rows));
    same(host.name + ": edges", rows.edges(), host.out.columns.size());
  }
};

/// Searches from a list of sources; each rank passes some of them.
template <class Searched>
void check_list(communicator const& ranks, Searched const& s, random_numbers& random,
                karpos::bfs_options const& o) {
  numbers all;
  std::vector<id> own;
  for (std::uint64_t i = random.below(6); i < 6; ++i) {
    std::uint64_t const v = draw_vertex(s.host.vertices, random);
    int const owner = int(random.below(std::uint64_t(ranks.size())));
    all.push_back(v);
    if (owner == ranks.rank()) own.push_back(id(v));
  }
  s.check(to_view(own), all, o);
}

void check_shape(std::uint64_t shape, std::uint64_t size, std::uint64_t seed) {
  auto const ranks = world();
  random_numbers random(seed);  // equal on every rank
  drawn_graph const g(ranks, shape, size, random);
  searched const s(ranks, g.rows, g.host);
  std::uint64_t const v = draw_vertex(g.host.vertices, random);
  s.check(id(v), {v}, {});
  check_list(ranks, s, random, {});
  for (int i = 0; i < 2; ++i) {
    auto const o = draw_options(random);
    std::uint64_t const w = draw_vertex(g.host.vertices, random);
    s.check(id(w), {w}, o);
    check_list(ranks, s, random, o);
  }
}

/// Returns the number of graphs of each shape: fewer on many ranks, which block each other at every
/// level.
std::uint64_t rounds() {
#if KARPOS_FULL_TESTS
  return 10;
#else
  return world().size() <= 2 ? 3 : 1;
#endif
}

TEST_CASE("random graphs of every shape") {
  std::uint64_t const sizes[] = {40, 400, 1500};
  for (std::uint64_t round = 0; round < rounds(); ++round)
    for (std::uint64_t shape = 0; shape < random_shapes; ++shape)
      check_shape(shape, sizes[(shape + round) % 3], round * random_shapes + shape);
}

TEST_CASE("undirected graphs whose levels are counted before they are wide") {
  auto const ranks = world();
  for (std::uint64_t seed = 0; seed < 8 * rounds(); ++seed) {
    random_numbers random(seed);
    auto drawn = draw_shape(9, 300 + random.below(2500), random);  // a band matrix
    auto const host =
        make_graph(drawn.name, drawn.vertices, simple(drawn.edges, sides::undirected));
    auto const mine = part_of(ranks, drawn.edges, placement::spread);
    auto const graph = dist::build_csr(ranks, drawn.vertices, to_view(mine.sources),
                                       to_view(mine.targets), {{.symmetrise = true}});
    searched const s(ranks, graph, host);
    std::uint64_t const v = random.below(drawn.vertices);
    s.check(id(v), {v}, {});
  }
}

}  // namespace
