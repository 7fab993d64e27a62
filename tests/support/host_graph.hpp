// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs on the host, and the sequential breadth-first search that every other search is compared
/// with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/keys.hpp"

namespace karpos_test {

using edge_pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// How a graph stores incoming edges: an undirected graph needs none, a directed one has none, and
/// one with a transpose has rows of them.
enum class sides { undirected, directed, with_transpose };

inline char const* name_of(sides s) {
  return s == sides::undirected ? "undirected"
         : s == sides::directed ? "directed"
                                : "with transpose";
}

struct host_rows {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> columns;

  /// Builds rows that keep the order of the edges: they are not sorted.
  static host_rows of(std::uint64_t vertices, edge_pairs const& edges, bool reversed = false) {
    host_rows r;
    r.offsets.assign(vertices + 1, 0);
    r.columns.resize(edges.size());
    for (auto const& [u, v] : edges) ++r.offsets[(reversed ? v : u) + 1];
    for (std::size_t v = 0; v < vertices; ++v) r.offsets[v + 1] += r.offsets[v];
    std::vector<std::uint64_t> next = r.offsets;
    for (auto const& [u, v] : edges) r.columns[next[reversed ? v : u]++] = reversed ? u : v;
    return r;
  }
};

struct host_graph {
  std::string name;
  sides kind = sides::undirected;
  std::uint64_t vertices = 0;
  host_rows out, in;  ///< `in` only of graphs with a transpose

  std::uint64_t degree(std::uint64_t v) const { return out.offsets[v + 1] - out.offsets[v]; }

  /// Returns the first vertex that has between one and four edges (else the last vertex).
  std::uint64_t some_leaf() const {
    std::uint64_t v = 0;
    while (v + 1 < vertices && (degree(v) == 0 || degree(v) > 4)) ++v;
    return v;
  }

  template <class F>
  void each_edge(F const& f) const {
    for (std::uint64_t u = 0; u < vertices; ++u)
      for (std::uint64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) f(u, out.columns[e]);
  }
};

/// Builds the graph of some edges. An undirected graph stores each edge in both directions, but a
/// self loop once.
inline host_graph make_graph(std::string name, std::uint64_t vertices, edge_pairs edges,
                             sides kind = sides::undirected) {
  if (kind == sides::undirected)
    for (std::size_t i = 0, n = edges.size(); i < n; ++i)
      if (edges[i].first != edges[i].second) edges.emplace_back(edges[i].second, edges[i].first);
  host_graph g{
      name.append(", ").append(name_of(kind)), kind, vertices, host_rows::of(vertices, edges), {}};
  if (kind == sides::with_transpose) g.in = host_rows::of(vertices, edges, true);
  return g;
}

inline edge_pairs path_edges(std::uint64_t vertices) {
  edge_pairs edges;
  for (std::uint64_t v = 1; v < vertices; ++v) edges.emplace_back(v - 1, v);
  return edges;
}
inline edge_pairs star_edges(std::uint64_t vertices) {
  edge_pairs edges;
  for (std::uint64_t v = 1; v < vertices; ++v) edges.emplace_back(0, v);
  return edges;
}
inline edge_pairs clique_edges(std::uint64_t vertices) {
  edge_pairs edges;
  for (std::uint64_t u = 0; u < vertices; ++u)
    for (std::uint64_t v = u + 1; v < vertices; ++v) edges.emplace_back(u, v);
  return edges;
}
inline edge_pairs random_edges(std::uint64_t vertices, std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  edge_pairs edges(count);
  for (auto& e : edges) e = {random.below(vertices), random.below(vertices)};
  return edges;
}
/// Returns every edge of a list: a function of the position that has a size, as in
/// perf/measure/graph/edge_generators.hpp.
template <class List>
edge_pairs drawn_edges(List const& list) {
  edge_pairs edges;
  for (std::uint64_t i = 0; i < list.size(); ++i) {
    auto const e = list(i);
    edges.emplace_back(e.source, e.target);
  }
  return edges;
}

/// Returns distances from the sources, -1 for unreachable vertices.
inline std::vector<std::int32_t> serial_bfs(
    host_graph const& g, std::vector<std::uint64_t> const& sources,
    std::function<bool(std::uint64_t, std::uint64_t)> const& follow = {}) {
  std::vector<std::int32_t> distance(g.vertices, -1);
  std::vector<std::uint64_t> queue;
  auto const found = [&](std::uint64_t v, std::int32_t level) {
    if (distance[v] >= 0) return;
    distance[v] = level;
    queue.push_back(v);
  };
  for (std::uint64_t const s : sources) found(s, 0);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    std::uint64_t const u = queue[i];
    for (std::uint64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e)
      if (!follow || follow(u, g.out.columns[e])) found(g.out.columns[e], distance[u] + 1);
  }
  return distance;
}

/// Returns a tree that fits the distances: the first possible parent of each vertex, -1 if there is
/// none.
inline std::vector<std::int64_t> serial_parents(host_graph const& g,
                                                std::vector<std::int32_t> const& distance) {
  std::vector<std::int64_t> parent(g.vertices, -1);
  for (std::uint64_t v = 0; v < g.vertices; ++v)
    if (distance[v] == 0) parent[v] = static_cast<std::int64_t>(v);
  g.each_edge([&](std::uint64_t u, std::uint64_t v) {
    if (parent[v] < 0 && distance[u] >= 0 && distance[v] == distance[u] + 1)
      parent[v] = static_cast<std::int64_t>(u);
  });
  return parent;
}

/// Counts the vertices whose parent is wrong, without using the library.
inline std::uint64_t wrong_parents(
    host_graph const& g, std::vector<std::uint64_t> const& sources,
    std::vector<std::int32_t> const& distance, std::vector<std::int64_t> const& parent,
    std::function<bool(std::uint64_t, std::uint64_t)> const& follow = {}) {
  std::vector<bool> right(g.vertices, false);
  for (std::uint64_t v = 0; v < g.vertices; ++v) right[v] = distance[v] < 0 && parent[v] == -1;
  for (std::uint64_t const s : sources) right[s] = parent[s] == static_cast<std::int64_t>(s);
  g.each_edge([&](std::uint64_t u, std::uint64_t v) {
    if (distance[v] > 0 && parent[v] == static_cast<std::int64_t>(u) &&
        distance[u] + 1 == distance[v] && (!follow || follow(u, v)))
      right[v] = true;
  });
  std::uint64_t wrong = 0;
  for (bool const r : right) wrong += r ? 0 : 1;
  return wrong;
}

}  // namespace karpos_test
