// SPDX-License-Identifier: Apache-2.0
/// \file
/// Searches whose steps are kernels of their own (KARPOS_STEPWISE): few and small enough that
/// `compute-sanitizer --tool racecheck` gets to their end (CONTRIBUTING.md).
///
/// Distances are compared with those of sequential searches.
#include <doctest/doctest.h>

#include <cstdint>
#include <karpos/bfs.hpp>
#include <karpos/bfs_batch.hpp>
#include <karpos/sssp.hpp>
#include <string>
#include <vector>

#include "support/bfs_subject.hpp"
#include "support/check.hpp"
#include "support/host_graph.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::host_graph;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::serial_bfs;
using karpos_test::sides;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;
using graph_type = karpos::csr_graph<std::uint32_t, std::uint64_t, space::memory_space>;

/// Returns a path, a star whose hub a team expands, and a random graph with both ends.
std::vector<host_graph> small_graphs() {
  auto mixed = karpos_test::random_edges(1500, 6000, 3);
  for (std::uint64_t v = 1500; v < 1540; ++v) mixed.emplace_back(v - 1, v);  // a tail
  std::vector<host_graph> graphs;
  graphs.push_back(
      karpos_test::make_graph("path", 30, karpos_test::path_edges(30), sides::undirected));
  graphs.push_back(
      karpos_test::make_graph("star", 6000, karpos_test::star_edges(6000), sides::undirected));
  graphs.push_back(karpos_test::make_graph("mixed", 1545, mixed, sides::undirected));
  return graphs;
}

TEST_CASE("bfs step by step") {
  for (host_graph const& g : small_graphs()) {
    auto const graph = to_space<std::uint32_t, std::uint64_t>(g);
    karpos::bfs_workspace const workspace(space(), graph);
    view<std::int32_t> const distance("distance", g.vertices);
    auto const expected = serial_bfs(g, {0});
    for (karpos::bfs_options const& o :
         {karpos::bfs_options{}, karpos::bfs_options{.direction = karpos::bfs_direction::gamma},
          karpos::bfs_options{.local_search_hops = 0}}) {
      karpos::bfs(space(), workspace, 0u, distance, {}, o);
      same(g.name, static_cast<int>(to_host(distance) != expected), 0);
    }
  }
}

TEST_CASE("sssp step by step") {
  for (host_graph const& g : small_graphs()) {
    auto const graph = to_space<std::uint32_t, std::uint64_t>(g);
    // Weights of 1: distances are those of bfs, and every edge weighs the same in both directions.
    auto const weights = to_space(std::vector<std::uint32_t>(g.out.columns.size(), 1));
    karpos::sssp_workspace const workspace(space(), graph, weights);
    view<std::uint32_t> const distance("distance", g.vertices);
    auto const levels = serial_bfs(g, {0});
    std::vector<std::uint32_t> const expected(levels.begin(), levels.end());  // -1: unreachable
    for (karpos::sssp_options const& o :
         {karpos::sssp_options{}, karpos::sssp_options{.delta = 3, .reach = 2},
          karpos::sssp_options{.fusion_hops = 0}}) {
      karpos::sssp(space(), workspace, 0u, distance, {}, o);
      same(g.name, static_cast<int>(to_host(distance) != expected), 0);
    }
  }
}

TEST_CASE("a batch of searches step by step") {
  for (host_graph const& g : small_graphs()) {
    auto const graph = to_space<std::uint32_t, std::uint64_t>(g);
    karpos::bfs_batch_workspace<space, graph_type> const workspace(space(), graph);
    std::vector<std::uint32_t> sources(70);
    random_numbers random(5);
    for (auto& s : sources) s = static_cast<std::uint32_t>(random.below(g.vertices));
    Kokkos::View<std::int32_t**, Kokkos::LayoutRight, space::memory_space> const distances(
        "distances", sources.size(), g.vertices);
    karpos::bfs_batch(space(), workspace, to_space(sources), distances);
    auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      auto const expected = serial_bfs(g, {sources[i]});
      std::uint64_t wrong = 0;
      for (std::size_t v = 0; v < expected.size(); ++v) wrong += got(i, v) != expected[v];
      same(g.name + ", source " + std::to_string(sources[i]), wrong, 0);
    }
  }
}

}  // namespace
