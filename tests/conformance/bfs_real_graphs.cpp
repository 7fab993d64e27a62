// SPDX-License-Identifier: Apache-2.0
/// \file
/// Breadth-first searches of real graphs from vertex 0, compared with the numbers that other
/// programs find. The environment variable KARPOS_GRAPH_DATA names the folder of the graphs.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/bfs_subject.hpp"

namespace {

using karpos_test::edge_pairs;
using karpos_test::print;
using karpos_test::same;

/// Reads lines of two ids; lines that begin with # or % are comments. MatrixMarket counts from 1,
/// and has a line of sizes first.
edge_pairs read_edges(std::ifstream& file, bool matrix_market) {
  edge_pairs edges;
  bool sizes = matrix_market;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line[0] == '%') continue;
    std::uint64_t u = 0, v = 0;
    std::istringstream(line) >> u >> v;
    if (!sizes) edges.emplace_back(matrix_market ? u - 1 : u, matrix_market ? v - 1 : v);
    sizes = false;
  }
  return edges;
}

struct known {
  std::uint64_t reached, sum_of_distances;
  std::int32_t depth;  ///< 0: unknown
};

void check_real_graph(char const* name, bool matrix_market, known const& expected) {
  char const* const folder = std::getenv("KARPOS_GRAPH_DATA");
  std::ifstream file(std::string(folder == nullptr ? "." : folder) + "/" + name);
  if (folder == nullptr || !file) {
    std::printf("SKIP: %s is not there: KARPOS_GRAPH_DATA is %s\n", name,
                folder == nullptr ? "not set" : folder);
    return;
  }
  edge_pairs const edges = read_edges(file, matrix_market);
  std::uint64_t vertices = 0;
  for (auto const& [u, v] : edges) vertices = std::max(vertices, std::max(u, v) + 1);
  auto const g = karpos_test::make_graph(name, vertices, edges);
  karpos_test::bfs_subject<std::uint32_t, std::uint64_t> const subject(g);
  auto const oracle = serial_bfs(g, {0});
  for (auto const d : {karpos::bfs_direction::automatic, karpos::bfs_direction::top_down,
                       karpos::bfs_direction::gamma, karpos::bfs_direction::beamer}) {
    karpos::bfs_options o;
    o.direction = d;
    auto const a = subject.search({0}, o);
    std::string const what = g.name + ", " + print(o);
    check_answer(what, g, {0}, o, oracle, a);
    std::uint64_t sum = 0;
    for (std::int32_t const level : a.distance)
      sum += level > 0 ? static_cast<std::uint64_t>(level) : 0;
    same(what + ": reached", a.report.visited, expected.reached);
    same(what + ": sum of distances", sum, expected.sum_of_distances);
    if (expected.depth > 0)
      same(what + ": levels", static_cast<std::uint64_t>(a.report.levels),
           static_cast<std::uint64_t>(expected.depth) + 1);
  }
}

}  // namespace

TEST_CASE("ego-Facebook") { check_real_graph("facebook_combined.txt", false, {4039, 11428, 0}); }
TEST_CASE("Epinions") { check_real_graph("soc-Epinions1.txt", false, {75877, 223676, 0}); }
TEST_CASE("roads of Luxembourg") {
  check_real_graph("luxembourg_osm.mtx", true, {114599, 43781025, 1034});
}
