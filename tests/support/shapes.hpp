// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shapes of graphs for the tests of several algorithms.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/host_graph.hpp"

namespace karpos_test {

/// Renumbers all vertices at random and shuffles the edges.
inline edge_pairs shuffled(edge_pairs edges, std::uint64_t vertices, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<std::uint64_t> name(vertices);
  std::iota(name.begin(), name.end(), std::uint64_t(0));
  for (std::uint64_t i = vertices; i > 1; --i) std::swap(name[i - 1], name[random.below(i)]);
  for (auto& [u, v] : edges) {
    u = name[u];
    v = name[v];
  }
  for (std::size_t i = edges.size(); i > 1; --i) std::swap(edges[i - 1], edges[random.below(i)]);
  return edges;
}

/// Returns a comb: a spine in which every vertex starts a path of nine more vertices.
inline edge_pairs comb_edges(std::uint64_t vertices) {
  edge_pairs edges;
  for (std::uint64_t v = 0; v + 10 < vertices; v += 10) {
    edges.emplace_back(v, v + 10);
    for (std::uint64_t k = 1; k < 10; ++k) edges.emplace_back(v + k - 1, v + k);
  }
  return edges;
}
inline edge_pairs ladder_edges(std::uint64_t vertices) {
  edge_pairs edges;
  for (std::uint64_t v = 0; v + 2 < vertices; ++v) {
    edges.emplace_back(v, v + 2);
    if (v % 2 == 0) edges.emplace_back(v, v + 1);
  }
  return edges;
}

/// Returns a path that winds outwards: turn k has 8 k vertices. Every seventh vertex has an edge
/// to its neighbour in the next turn.
inline edge_pairs spiral_edges(std::uint64_t vertices) {
  edge_pairs edges;
  std::uint64_t length = 8;
  for (std::uint64_t begin = 0; begin < vertices; begin += length, length += 8)
    for (std::uint64_t v = begin; v < std::min(begin + length, vertices); ++v) {
      if (v + 1 < vertices) edges.emplace_back(v, v + 1);
      std::uint64_t const beside = begin + length + (v - begin) * (length + 8) / length;
      if (v % 7 == 0 && beside < vertices) edges.emplace_back(v, beside);
    }
  return edges;
}

}  // namespace karpos_test
