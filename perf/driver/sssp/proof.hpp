// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "perf/support/space.hpp"

// Weights of edges, and a proof that distances by them are exact: by looking at every edge once, without another search.

namespace karpos::perf {

/// Weights 1 … most, a function of the edge's ends in either order.
template <class Graph>
struct draw_weights {
  typename Graph::offsets_view offsets;
  typename Graph::columns_view columns;
  array<std::uint32_t> weight;
  std::uint32_t most;

  KOKKOS_FUNCTION void operator()(std::uint64_t u) const {
    for (auto e = offsets(u); e < offsets(u + 1); ++e) {
      std::uint64_t const v = columns(e);
      std::uint64_t x = (Kokkos::min(u, v) << 32 | Kokkos::max(u, v)) * 0x9e3779b97f4a7c15u;
      x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
      weight(e) = 1 + static_cast<std::uint32_t>((x ^ x >> 32) % most);
    }
  }
};

inline constexpr std::uint32_t no_distance = ~std::uint32_t(0);

/// Counts edges that would shorten a distance, and marks vertices that an edge from a nearer one leads to on a shortest path,
/// and those whose parent is the start of such an edge.
template <class Graph>
struct look_at_edges {
  typename Graph::offsets_view offsets;
  typename Graph::columns_view columns;
  array<std::uint32_t> weight, distance, parent;
  array<std::uint8_t> led_to, parent_leads;

  KOKKOS_FUNCTION void operator()(std::uint64_t u, std::uint64_t& wrong) const {
    if (distance(u) == no_distance) return;
    for (auto e = offsets(u); e < offsets(u + 1); ++e) {
      std::uint32_t const v = columns(e);
      std::uint64_t const to = std::uint64_t(distance(u)) + weight(e);
      if (to < distance(v)) ++wrong;
      if (to != distance(v)) continue;
      led_to(v) = 1;
      if (parent.extent(0) != 0 && parent(v) == u) parent_leads(v) = 1;
    }
  }
};

/// What the distances say, and the vertices that they are wrong at.
struct distance_sums {
  std::uint64_t reached = 0, edges = 0, farthest = 0, wrong = 0;
};

template <class Graph>
struct look_at_vertices {
  using value_type = distance_sums;
  typename Graph::offsets_view offsets;
  array<std::uint32_t> distance, parent;
  array<std::uint8_t> led_to, parent_leads;
  std::uint64_t source;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, distance_sums& s) const {
    bool const far = distance(v) == no_distance, with_parents = parent.extent(0) != 0;
    if (v == source)
      s.wrong += distance(v) != 0 || (with_parents && parent(v) != v) ? 1 : 0;
    else if (far)
      s.wrong += with_parents && parent(v) != no_distance ? 1 : 0;
    else
      s.wrong += led_to(v) == 0 || (with_parents && parent_leads(v) == 0) ? 1 : 0;
    if (far) return;
    ++s.reached;
    s.edges += static_cast<std::uint64_t>(offsets(v + 1) - offsets(v));
    s.farthest = Kokkos::max(s.farthest, std::uint64_t(distance(v)));
  }
  KOKKOS_FUNCTION void init(distance_sums& s) const { s = {}; }
  KOKKOS_FUNCTION void join(distance_sums& a, distance_sums const& b) const {
    a.reached += b.reached;
    a.edges += b.edges;
    a.farthest = Kokkos::max(a.farthest, b.farthest);
    a.wrong += b.wrong;
  }
};

template <class Graph>
distance_sums prove(space const& exec, Graph const& graph, array<std::uint32_t> const& weight,
                    array<std::uint32_t> const& distance, array<std::uint32_t> const& parent,
                    std::uint64_t source) {
  std::uint64_t const n = graph.vertices();
  array<std::uint8_t> const led_to("led to", n), parent_leads("parent leads", n);
  std::uint64_t wrong = 0;
  Kokkos::parallel_reduce("karpos::perf::look_at_edges", range(exec, n),
                          look_at_edges<Graph>{graph.row_offsets(), graph.column_indices(), weight,
                                               distance, parent, led_to, parent_leads},
                          wrong);
  distance_sums sums;
  Kokkos::parallel_reduce(
      "karpos::perf::look_at_vertices", range(exec, n),
      look_at_vertices<Graph>{graph.row_offsets(), distance, parent, led_to, parent_leads, source},
      sums);
  exec.fence("karpos::perf: proof of distances");
  sums.wrong += wrong;
  return sums;
}

}  // namespace karpos::perf
