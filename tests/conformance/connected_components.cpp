// SPDX-License-Identifier: Apache-2.0
/// \file
/// Connected components compared with disjoint sets on the host: every component id, which is the
/// component's smallest vertex.
#include <doctest/doctest.h>

#include <algorithm>
#include <karpos/connected_components.hpp>
#include <limits>
#include <set>

#include "support/bfs_subject.hpp"
#include "support/components_oracle.hpp"
#include "support/invalid_graphs.hpp"
#include "support/shapes.hpp"

namespace {

using karpos::components_options;
using karpos_test::edge_pairs;
using karpos_test::expected_component_ids;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::same;
using karpos_test::sides;
using karpos_test::space;
using karpos_test::view;
using numbers = std::vector<std::uint64_t>;

template <class Vertex, class Offset>
void check_types(host_graph const& g, numbers const& expected,
                 std::vector<std::uint32_t> const& sampled) {
  auto const graph = karpos_test::to_space<Vertex, Offset>(g);
  std::uint64_t const components = std::set<std::uint64_t>(expected.begin(), expected.end()).size();
  for (std::uint32_t const neighbours : sampled) {
    view<Vertex> const component_ids("component ids", g.vertices);
    Kokkos::deep_copy(component_ids, Vertex(77));
    auto const r = karpos::connected_components(space(), graph, component_ids,
                                                {.sampled_neighbours = neighbours});
    std::uint64_t wrong = 0;
    auto const got = karpos_test::to_host(component_ids);
    for (std::uint64_t v = 0; v < g.vertices; ++v)
      wrong += static_cast<std::uint64_t>(got[v]) == expected[v] ? 0 : 1;
    std::string const what = g.name + ", sampled " + std::to_string(neighbours);
    same(what + ": wrong component ids", wrong, 0);
    same(what + ": components", r.components, components);
  }
}

void check(host_graph const& g) {
  check_types<std::uint32_t, std::uint64_t>(g, expected_component_ids(g), {2, 0, 1, 1000000000});
}

/// Checks the graph as it is, with ids reversed, and with ids shuffled; each as every kind of
/// graph.
void check_all(std::string const& name, std::uint64_t vertices, edge_pairs const& edges) {
  edge_pairs backwards = edges;
  for (auto& [u, v] : backwards) u = vertices - 1 - u, v = vertices - 1 - v;
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
    check(make_graph(name, vertices, edges, kind));
    check(make_graph(name + ", backwards", vertices, backwards, kind));
    check(
        make_graph(name + ", shuffled", vertices, karpos_test::shuffled(edges, vertices, 5), kind));
  }
}

}  // namespace

TEST_CASE("components of small graphs") {
  check(make_graph("nothing", 0, {}));
  check_all("one", 1, {});
  check_all("one with a self loop", 1, {{0, 0}});
  check_all("pair", 2, {{0, 1}});
  check_all("edge twice, and a loop", 3, {{0, 2}, {0, 2}, {1, 1}, {2, 0}});
  check_all("isolated vertices", 70, {});
  check_all("two parts", 7, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}});
  check_all("a fan into the last", 5, {{0, 4}, {1, 4}, {2, 4}, {3, 4}});
}

TEST_CASE("components of paths, combs, ladders and stars") {
  std::uint64_t const n = 5000;
  check_all("path", n, karpos_test::path_edges(n));
  check_all("star", n, karpos_test::star_edges(n));
  edge_pairs paths, stars;
  for (std::uint64_t v = 0; v + 10 < n; v += 10) {
    for (std::uint64_t k = 1; k < 10; ++k) paths.emplace_back(v + k - 1, v + k);
    for (std::uint64_t k = 1; k < 10; ++k) stars.emplace_back(v + 9, v + 9 - k);
  }
  check_all("comb", n, karpos_test::comb_edges(n));
  check_all("ladder", n, karpos_test::ladder_edges(n));
  check_all("many paths", n, paths);
  check_all("many stars", n, stars);
}

TEST_CASE("rows that a tile and that all tiles go through") {
  // Hubs that only leaves connect, next to a large path that the sample finds.
  edge_pairs edges = karpos_test::path_edges(30000);
  for (std::uint64_t const degree : {31, 32, 33, 4095, 4096, 4097, 9000}) {
    std::uint64_t const hub = 30000 + degree;
    for (std::uint64_t k = 0; k < degree; ++k) edges.emplace_back(hub, 40000 + k * 2);
    edges.emplace_back(40001, 40003);
  }
  check_all("hubs beside a path", 60000, edges);
}

TEST_CASE("components of random graphs, sparse to dense") {
  std::uint64_t const n = 4000;
  for (std::uint64_t const edges : {100, 1000, 2000, 2500, 4000, 8000, 40000})
    check_all("random", n, karpos_test::random_edges(n - 50, edges, edges));
}

TEST_CASE("components of graphs of other types") {
  auto edges = karpos_test::random_edges(3000, 2500, 3);
  for (sides const kind : {sides::undirected, sides::with_transpose}) {
    auto const g = make_graph("random", 3000, edges, kind);
    check_types<std::uint64_t, std::uint32_t>(g, expected_component_ids(g), {2, 0});
    check_types<std::int32_t, std::uint32_t>(g, expected_component_ids(g), {2, 0});
  }
}

TEST_CASE("long chains between which there are many edges") {
  // Climbing these chains anew for each edge takes a hundred times as long as the suite may.
  std::uint64_t const n = 150000;
  edge_pairs meshed, hooked;
  for (std::uint64_t v = 0; v + 2 < 2 * n; ++v) meshed.emplace_back(v, v + 2);
  for (std::uint64_t v = 0; v < n; ++v)
    for (std::uint64_t const end : {2 * n - 2, 2 * n - 1}) meshed.emplace_back(2 * n + v, end);
  for (std::uint64_t k = n - 1; k > 0; --k)
    for (std::uint64_t const root : {k, k - 1}) hooked.emplace_back(2 * n - k, root);
  for (std::uint64_t v = 0; v < n; ++v)
    for (std::uint64_t const end : {std::uint64_t(0), n - 1}) hooked.emplace_back(2 * n + v, end);
  check(make_graph("two chains, and a rail between their ends", 3 * n, meshed));
  check(make_graph("roots hooked one under the other", 3 * n, hooked));
}

TEST_CASE("components in memory of the caller's, and what is refused") {
  auto const g = make_graph("path", 100, karpos_test::path_edges(100));
  auto const graph = karpos_test::to_space<std::uint32_t, std::uint64_t>(g);
  std::size_t const bytes = karpos::connected_components_bytes(space(), graph);
  Kokkos::View<std::byte*, space::memory_space> const memory("memory", bytes + 1);
  view<std::uint32_t> const component_ids("component ids", 100), few("component ids", 99);
  auto const run = [&](view<std::uint32_t> const& to, void* at, std::size_t size) {
    return karpos::connected_components(space(), graph, to, {.workspace = {at, size}});
  };
  same("components", run(component_ids, memory.data(), bytes).components, 1);
  using error = std::invalid_argument;
  karpos_test::throws<error>([&] { run(component_ids, memory.data(), bytes - 1); }, "too small",
                             "connected_components_bytes");
  karpos_test::throws<error>([&] { run(component_ids, memory.data() + 1, bytes); }, "not aligned");
  karpos_test::throws<error>([&] { run(few, nullptr, 0); }, "component ids", "99 against 100");
  view<std::uint32_t> const own("component ids and workspace", 100 + bytes);
  karpos_test::throws<error>(
      [&] { run(Kokkos::subview(own, std::pair(0, 100)), own.data() + 16, bytes); },
      "component ids", "overlaps");
  view<std::uint32_t> const of_graph(const_cast<std::uint32_t*>(graph.column_indices().data()),
                                     100);
  karpos_test::throws<error>([&] { run(of_graph, nullptr, 0); }, "component ids", "overlaps");
  karpos_test::throws<error>([&] { run(component_ids, of_graph.data(), bytes); }, "workspace",
                             "overlaps");
  auto const transposed = karpos_test::to_space<std::uint32_t, std::uint64_t>(g);
  auto const directed =
      decltype(graph)(graph.row_offsets(), graph.column_indices()).with_transpose(transposed);
  view<std::uint32_t> const of_transpose(
      const_cast<std::uint32_t*>(transposed.column_indices().data()), 100);
  karpos_test::throws<error>([&] { karpos::connected_components(space(), directed, of_transpose); },
                             "component ids", "overlaps");
  // These views are not read: they are rejected because of their lengths.
  using unowned =
      Kokkos::View<std::uint32_t*, space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  std::uint64_t const most = std::numeric_limits<std::int32_t>::max();
  karpos::csr_graph<std::int32_t, std::uint32_t, space::memory_space> const large(
      unowned(component_ids.data(), most + 3), view<std::int32_t>());
  Kokkos::View<std::int32_t*, space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      many(reinterpret_cast<std::int32_t*>(component_ids.data()), most + 2);
  karpos_test::throws<std::length_error>(
      [&] { karpos::connected_components(space(), large, many); }, std::to_string(most + 2),
      "wider ids");
}

TEST_CASE("components of graphs that are none") {
  karpos_test::rejects_invalid_graphs<std::int32_t, std::uint32_t>([](auto const& g) {
    karpos::connected_components(space(), g, view<std::int32_t>("component ids", g.vertices()));
  });
}
