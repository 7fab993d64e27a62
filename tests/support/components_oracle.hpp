// SPDX-License-Identifier: Apache-2.0
/// \file
/// Connected components by disjoint sets on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/host_graph.hpp"

namespace karpos_test {

/// Returns the smallest vertex of each vertex's component, with edges followed in both directions.
inline std::vector<std::uint64_t> expected_component_ids(host_graph const& g) {
  std::vector<std::uint64_t> parent(g.vertices);
  std::iota(parent.begin(), parent.end(), std::uint64_t(0));
  auto const root = [&](std::uint64_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  g.each_edge([&](std::uint64_t u, std::uint64_t v) {
    std::uint64_t const a = root(u), b = root(v);
    parent[std::max(a, b)] = std::min(a, b);
  });
  for (std::uint64_t v = 0; v < g.vertices; ++v) parent[v] = root(v);
  return parent;
}

}  // namespace karpos_test
