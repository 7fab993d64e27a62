// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random graphs of many shapes: wide, narrow, deep and disconnected, so that a search makes every
/// decision that it can make.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "support/host_graph.hpp"
#include "support/shapes.hpp"

namespace karpos_test {

/// A shape with edges between randomly drawn vertices.
struct drawn_shape {
  std::string name;
  std::uint64_t vertices = 0;
  edge_pairs edges;

  void join(std::uint64_t u, std::uint64_t v) { edges.emplace_back(u, v); }
  /// Adds a path of new vertices that begins at an existing one. Returns: its last vertex.
  std::uint64_t add_path(std::uint64_t from, std::uint64_t length) {
    for (std::uint64_t i = 0; i < length; ++i) {
      join(from, vertices);
      from = vertices++;
    }
    return from;
  }
  /// Adds new neighbours to an existing vertex. Returns: the first of them.
  std::uint64_t add_leaves(std::uint64_t of, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) join(of, vertices + i);
    vertices += count;
    return vertices - count;
  }
};

inline constexpr std::uint64_t random_shapes = 15;

/// Draws a graph of about n vertices. `shape` must be less than random_shapes.
inline drawn_shape draw_shape(std::uint64_t shape, std::uint64_t n, random_numbers& random) {
  drawn_shape g;
  auto const among = [&](std::uint64_t low, std::uint64_t high) {
    return low + random.below(high - low + 1);
  };
  auto const all_at_once = [&](char const* name, std::uint64_t vertices) {
    g.name = name;
    g.vertices = vertices;
  };
  switch (shape) {
    case 0: {
      all_at_once("paths with bursts", 1);
      for (std::uint64_t at = 0; g.vertices < n;) {
        at = g.add_path(at, among(1, 40));
        std::uint64_t const width = among(1, n / 3);
        std::uint64_t const first = g.add_leaves(at, width);
        at = first + random.below(width);
        if (random.below(2) == 0) continue;  // else the leaves meet in one vertex
        at = g.vertices++;
        for (std::uint64_t v = first; v < at; ++v) g.join(v, at);
      }
      break;
    }
    case 1: {
      std::uint64_t const spine = std::max<std::uint64_t>(1, n / among(2, 9));
      all_at_once("caterpillar", n);
      g.edges = path_edges(spine);
      for (std::uint64_t v = spine; v < n; ++v) g.join(random.below(spine), v);
      break;
    }
    case 2: {
      std::uint64_t const width = among(1, 60), height = n / width + 1, holes = random.below(5);
      all_at_once("grid with holes", width * height);
      for (std::uint64_t v = 0; v < g.vertices; ++v) {
        if (v % width + 1 < width && random.below(10) >= holes) g.join(v, v + 1);
        if (v + width < g.vertices && random.below(10) >= holes) g.join(v, v + width);
      }
      break;
    }
    case 3:
      all_at_once("binary tree", n);
      for (std::uint64_t v = 1; v < n; ++v) g.join((v - 1) / 2, v);
      break;
    case 4: {
      std::uint64_t const clique = std::min(n, among(2, 70));
      all_at_once("clique with a tail", clique);
      g.edges = clique_edges(clique);
      g.add_path(clique - 1, std::min<std::uint64_t>(n - clique, 150));
      break;
    }
    case 5: {
      std::uint64_t const count = among(10, std::max<std::uint64_t>(10, n / 5));
      std::uint64_t const length = n / count + 1;
      all_at_once("many paths with shortcuts", count * length);
      for (std::uint64_t v = 1; v < g.vertices; ++v)
        if (v % length != 0) g.join(v - 1, v);
      for (std::uint64_t i = random.below(n); i > 0; --i)
        g.join(random.below(g.vertices), random.below(g.vertices));
      break;
    }
    case 6:
      all_at_once("sparse", n);
      g.edges = random_edges(n, n * among(1, 4), random());
      break;
    case 7:
      all_at_once("in parts", n);
      for (std::uint64_t v = 1; v < n; ++v)
        if (random.below(40) != 0) g.join(v - 1 - random.below(std::min<std::uint64_t>(v, 20)), v);
      break;
    case 8:
      all_at_once("chain of stars", 1);
      for (std::uint64_t hub = 0; g.vertices < n;) {
        g.add_leaves(hub, random.below(3) == 0 ? n / 4 : random.below(60));
        hub = g.add_path(g.vertices - 1, 1);
      }
      break;
    case 9: {
      std::uint64_t const degree = among(1, 4);
      all_at_once("band", n);
      for (std::uint64_t v = 0; v + 1 < n; ++v)
        for (std::uint64_t k = 0; k < degree; ++k) g.join(v, std::min(n - 1, v + among(1, 20)));
      break;
    }
    case 10:
      all_at_once("few vertices of many edges", n);
      for (std::uint64_t v = 1; v < n; ++v)
        for (std::uint64_t k = among(1, 5); k > 0; --k)
          g.join(random.below(random.below(random.below(v) + 1) + 1), v);
      break;
    case 11: {
      all_at_once("tree of paths", 1);
      std::vector<std::uint64_t> ends{0};
      while (g.vertices < n)
        ends.push_back(g.add_path(ends[random.below(ends.size())], among(1, 15)));
      break;
    }
    case 12:
      all_at_once("cycle with chords", n);
      for (std::uint64_t v = 0; v < n; ++v) g.join(v, (v + 1) % n);
      for (std::uint64_t i = among(10, 30); i > 0; --i) g.join(random.below(n), random.below(n));
      break;
    case 13: {
      std::uint64_t const layer = among(2, 40);
      all_at_once("layers", n);
      for (std::uint64_t v = layer; v < n; ++v)
        for (std::uint64_t k = among(1, 6); k > 0; --k)
          g.join(v / layer * layer - 1 - random.below(layer), v);
      break;
    }
    default:
      all_at_once("dense", n / 4 + 1);
      g.edges = random_edges(g.vertices, 8 * n, random());
  }
  if (random.below(2) == 0) return g;
  g.name += ", shuffled";
  g.edges = shuffled(std::move(g.edges), g.vertices, random());
  return g;
}

}  // namespace karpos_test
