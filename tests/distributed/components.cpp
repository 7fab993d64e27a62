// SPDX-License-Identifier: Apache-2.0
/// \file
/// Connected components over ranks, compared with disjoint sets on the host.
#include <doctest/doctest.h>

#include <set>

#include "karpos/distributed/build_csr.hpp"
#include "karpos/distributed/connected_components.hpp"
#include "support/components_oracle.hpp"
#include "support/random_shapes.hpp"
#include "support/shapes.hpp"
#include "tests/distributed/edges_of_ranks.hpp"

namespace {
using namespace karpos_test;

template <class Vertex, class Graph>
void check_ids(communicator const& ranks, host_graph const& g, Graph const& rows,
               karpos::components_options const& o) {
  INFO(g.name, " on ", ranks.size(), " ranks, sampled ", o.sampled_neighbours);
  auto const expected = expected_component_ids(g);
  Kokkos::View<Vertex*, memory> const ids("ids", rows.local().vertices());
  Kokkos::deep_copy(ids, Vertex(77));
  auto const r = dist::connected_components(ranks, rows, ids, o);
  CHECK(r.components == std::set<std::uint64_t>(expected.begin(), expected.end()).size());
  auto const got = to_vector(ids);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    wrong += static_cast<std::uint64_t>(got[i]) == expected[rows.first() + i] ? 0 : 1;
  CHECK(wrong == 0);
}

void check(communicator const& ranks, std::string const& name, std::uint64_t n,
           edge_pairs const& edges, numbers const& begins = {}) {
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
    auto const g = make_graph(name, n, edges, kind);
    auto const mine = part_of(ranks, edges, placement::spread);
    auto rows = dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets),
                                {{.symmetrise = kind == sides::undirected}, begins});
    if (kind == sides::with_transpose) rows = rows.with_transpose(dist::transpose(ranks, rows));
    for (std::uint32_t const sampled : {2, 0, 1})
      check_ids<id>(ranks, g, rows, {.sampled_neighbours = sampled});
  }
}

TEST_CASE("components over ranks: small graphs") {
  auto const ranks = world();
  check(ranks, "nothing", 0, {});
  check(ranks, "one", 1, {});
  check(ranks, "pair", 2, {{0, 1}});
  check(ranks, "isolated vertices", 300, {});
  check(ranks, "two parts", 7, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}});
  check(ranks, "a fan into the last", 500, {{0, 499}, {100, 499}, {250, 499}, {498, 499}});
}

TEST_CASE("components over ranks: chains that pass through all ranks again and again") {
  auto const ranks = world();
  std::uint64_t const n = 4096;
  check(ranks, "path", n, path_edges(n));
  check(ranks, "shuffled path", n, shuffled(path_edges(n), n, 3));
  check(ranks, "star", n, star_edges(n));
  check(ranks, "comb", n, shuffled(comb_edges(n), n, 4));
}

/// Each block of vertices is a clique of neighbours, which its rank takes for the most frequent
/// component. One edge between two blocks is all that connects them, and neither end samples it.
TEST_CASE("components over ranks: an edge between the largest components of two ranks") {
  auto const ranks = world();
  std::uint64_t const block = 320, blocks = static_cast<std::uint64_t>(ranks.size());
  edge_pairs edges;
  for (std::uint64_t b = 0; b < blocks; ++b)
    for (std::uint64_t i = 0; i < block; ++i)
      for (std::uint64_t k = 1; k <= 4; ++k)
        if (i + k < block) edges.emplace_back(b * block + i, b * block + i + k);
  numbers begins{0};
  for (std::uint64_t b = 1; b <= blocks; ++b) begins.push_back(b * block);
  check(ranks, "blocks apart", blocks * block, edges, begins);
  for (std::uint64_t b = 0; b + 2 < blocks; b += 2)  // the last ones stay apart
    edges.emplace_back(b * block + block / 2, (b + 1) * block + block / 2);
  if (blocks == 2) edges.emplace_back(block / 2, block + block / 2);
  check(ranks, "blocks in pairs", blocks * block, edges, begins);
  for (std::uint64_t b = 0; b + 1 < blocks; ++b)
    edges.emplace_back(b * block + block / 2 + 7, (b + 1) * block + block / 2 + 7);
  check(ranks, "a chain of blocks", blocks * block, edges, begins);
}

TEST_CASE("components over ranks: all rows on one rank, and ranks without rows") {
  auto const ranks = world();
  std::uint64_t const n = 640;
  numbers first(static_cast<std::size_t>(ranks.size()) + 1, n), last(first.size(), 0);
  first[0] = 0;
  last.back() = n;
  auto const edges = random_edges(n - 40, 900, 5);
  check(ranks, "all on the first", n, edges, first);
  check(ranks, "all on the last", n, edges, last);
}

TEST_CASE("components over ranks: random graphs, sparse to dense") {
  auto const ranks = world();
  for (std::uint64_t const m : {100, 1500, 2000, 4000, 20000})
    check(ranks, "random", 3000, random_edges(2950, m, m));
}

TEST_CASE("components over ranks: what is refused, on all ranks") {
  auto const ranks = world();
  auto const mine = part_of(ranks, path_edges(200), placement::spread);
  auto const rows = dist::build_csr(ranks, 200, to_view(mine.sources), to_view(mine.targets),
                                    {{.symmetrise = true}, {}});
  std::uint64_t const own = rows.local().vertices(), last = ranks.size() - 1;
  bool const wrong = static_cast<std::uint64_t>(ranks.rank()) == last;
  Kokkos::View<id*, memory> const ids("ids", own), more("ids", own + 1);
  CHECK_THROWS_WITH_AS(
      dist::connected_components(ranks, rows, wrong ? more : ids),
      doctest::Contains("component ids and vertices of this rank differ in extent"),
      dist::collective_error);
  Kokkos::View<std::byte*, memory> const bytes("workspace",
                                               dist::connected_components_bytes(ranks, rows) + 64);
  auto* const at =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(bytes.data()) + 63) / 64 * 64);
  std::size_t const needed = dist::connected_components_bytes(ranks, rows);
  CHECK_THROWS_WITH_AS(dist::connected_components(ranks, rows, ids,
                                                  {.workspace = {at, wrong ? needed - 1 : needed}}),
                       doctest::Contains("the workspace is too small"), dist::collective_error);
  CHECK(dist::connected_components(ranks, rows, ids, {.workspace = {at, needed}}).components == 1);
}

}  // namespace
