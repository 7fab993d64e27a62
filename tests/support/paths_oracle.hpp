// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shortest paths by Dijkstra's algorithm on the host; weights and graphs for their tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "support/host_graph.hpp"
#include "support/shapes.hpp"

namespace karpos_test {

template <class Weight>
constexpr Weight infinity() {
  return std::numeric_limits<Weight>::has_infinity ? std::numeric_limits<Weight>::infinity()
                                                   : std::numeric_limits<Weight>::max();
}

template <class Weight>
std::vector<Weight> dijkstra(host_graph const& g, std::vector<Weight> const& weights,
                             std::vector<std::uint64_t> const& sources) {
  std::vector<Weight> distance(g.vertices, infinity<Weight>());
  using entry = std::pair<Weight, std::uint64_t>;
  std::priority_queue<entry, std::vector<entry>, std::greater<entry>> queue;
  for (std::uint64_t const s : sources) {
    distance[s] = 0;
    queue.emplace(Weight(0), s);
  }
  while (!queue.empty()) {
    auto const [d, u] = queue.top();
    queue.pop();
    if (d != distance[u]) continue;
    for (std::uint64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      std::uint64_t const v = g.out.columns[e];
      if (weights[e] >= infinity<Weight>() - d) continue;  // out of the type's range
      Weight const to = static_cast<Weight>(d + weights[e]);
      if (to >= distance[v]) continue;
      distance[v] = to;
      queue.emplace(to, v);
    }
  }
  return distance;
}

/// Counts the vertices whose parents do not lead to a source along edges that fit their distances.
template <class Weight>
std::uint64_t wrong_parents(host_graph const& g, std::vector<Weight> const& weights,
                            std::vector<std::uint64_t> const& sources,
                            std::vector<Weight> const& distance,
                            std::vector<std::int64_t> const& parent) {
  std::vector<char> right(g.vertices, 0), leads(g.vertices, 0);
  for (std::uint64_t v = 0; v < g.vertices; ++v)
    right[v] = distance[v] == infinity<Weight>() && parent[v] == -1;
  for (std::uint64_t u = 0; u < g.vertices; ++u)
    for (std::uint64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      std::uint64_t const v = g.out.columns[e];
      if (parent[v] == static_cast<std::int64_t>(u) && distance[u] != infinity<Weight>() &&
          static_cast<Weight>(distance[u] + weights[e]) == distance[v])
        right[v] = 1;
    }
  for (std::uint64_t const s : sources) {
    right[s] = parent[s] == static_cast<std::int64_t>(s);
    leads[s] = 1;
  }
  std::uint64_t wrong = 0;
  for (std::uint64_t v = 0; v < g.vertices; ++v) {
    std::vector<std::uint64_t> way;
    std::uint64_t at = v;
    while (right[v] != 0 && parent[v] >= 0 && leads[at] == 0 && way.size() <= g.vertices) {
      way.push_back(at);
      at = static_cast<std::uint64_t>(parent[at]);
    }
    bool const arrives = parent[v] < 0 || leads[at] != 0;  // no cycle
    if (arrives)
      for (std::uint64_t const w : way) leads[w] = 1;
    wrong += right[v] != 0 && arrives ? 0 : 1;
  }
  return wrong;
}

/// Whether an edge weighs the same in both directions: only then may far vertices compute their own
/// distances.
enum class weights_of { each_direction, each_pair };

template <class Weight, class F>
std::vector<Weight> draw_weights(host_graph const& g, F const& weight, weights_of way) {
  random_numbers random(17);
  std::vector<Weight> weights(g.out.columns.size());
  std::map<std::pair<std::uint64_t, std::uint64_t>, Weight> drawn;
  for (std::uint64_t u = 0; u < g.vertices; ++u)
    for (std::uint64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      auto const w = static_cast<Weight>(weight(random));
      std::uint64_t const v = g.out.columns[e];
      weights[e] = way == weights_of::each_direction
                       ? w
                       : drawn.try_emplace(std::minmax(u, v), w).first->second;
    }
  return weights;
}

inline std::uint64_t one_to_255(random_numbers& random) { return 1 + random.below(255); }
inline std::uint64_t often_zero(random_numbers& random) {
  return random.below(3) == 0 ? random.below(100) : 0;
}
inline std::uint64_t zero(random_numbers&) { return 0; }

inline edge_pairs grid_edges(std::uint64_t side) {
  edge_pairs edges;
  for (std::uint64_t v = 0; v < side * side; ++v) {
    if ((v + 1) % side != 0) edges.emplace_back(v, v + 1);
    if (v + side < side * side) edges.emplace_back(v, v + side);
  }
  return edges;
}

/// Returns a random graph with hubs in every degree class except the grid's, and some isolated
/// vertices.
inline host_graph hubs(sides kind) {
  std::uint64_t const n = 3000;
  auto edges = karpos_test::random_edges(n - 100, 2 * n, 5);
  for (std::uint64_t v = 0; v < n - 200; ++v) edges.emplace_back(v % 7 == 0 ? 17 : v % 5, v);
  for (std::uint64_t k = 0; k < 40; ++k) edges.emplace_back(11, 100 + k);
  return make_graph("hubs", n, edges, kind);
}

}  // namespace karpos_test
