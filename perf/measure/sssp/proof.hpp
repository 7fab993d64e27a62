// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "perf/measure/support/space.hpp"

// Weights of edges, and a proof that distances are exact, which examines every edge once and needs
// no other search.

namespace karpos::perf {

/// Draws weights 1 … most, a symmetric function of the edge's two ends.
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

/// The distance of an unreachable vertex.
template <class Weight>
inline constexpr Weight no_distance =
    std::is_integral_v<Weight> ? std::numeric_limits<Weight>::max()
                               : std::numeric_limits<Weight>::infinity();
inline constexpr std::uint32_t no_parent = ~std::uint32_t(0);

/// Returns the distance at the end of an edge. If it is too large for the distance type, the result
/// is above that type's range, or infinite.
KOKKOS_INLINE_FUNCTION std::uint64_t add_weight(std::uint32_t distance, std::uint32_t weight) {
  return std::uint64_t(distance) + weight;
}
KOKKOS_INLINE_FUNCTION double add_weight(double distance, double weight) {
  return distance + weight;
}

/// Counts edges that would shorten a distance. Marks in `has_tight_edge` the ends of edges on a
/// shortest path from a nearer vertex. Marks in `parent_is_tight` the vertices whose parent is the
/// start of such an edge.
template <class Graph, class Weight>
struct check_edges {
  typename Graph::offsets_view offsets;
  typename Graph::columns_view columns;
  array<Weight> weight, distance;
  array<std::uint32_t> parent;
  array<std::uint8_t> has_tight_edge, parent_is_tight;

  KOKKOS_FUNCTION void operator()(std::uint64_t u, std::uint64_t& wrong) const {
    if (distance(u) == no_distance<Weight>) return;
    for (auto e = offsets(u); e < offsets(u + 1); ++e) {
      std::uint32_t const v = columns(e);
      auto const to = add_weight(distance(u), weight(e));
      if (to < distance(v)) ++wrong;
      if (to != distance(v) || distance(u) == distance(v)) continue;
      has_tight_edge(v) = 1;
      if (parent.extent(0) != 0 && parent(v) == u) parent_is_tight(v) = 1;
    }
  }
};

/// Sums over the distances; `wrong` counts vertices with wrong distances or parents, `unproved`
/// those that no edge from a nearer vertex proves.
struct distance_sums {
  std::uint64_t reached = 0, edges = 0, wrong = 0, unproved = 0;
  double farthest = 0;
};

template <class Graph, class Weight>
struct check_vertices {
  using value_type = distance_sums;
  typename Graph::offsets_view offsets;
  array<Weight> distance;
  array<std::uint32_t> parent;
  array<std::uint8_t> has_tight_edge, parent_is_tight;
  std::uint64_t source;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, distance_sums& s) const {
    bool const far = distance(v) == no_distance<Weight>, with_parents = parent.extent(0) != 0;
    if (v == source)
      s.wrong += distance(v) != 0 || (with_parents && parent(v) != v) ? 1 : 0;
    else if (far)
      s.wrong += with_parents && parent(v) != no_parent ? 1 : 0;
    else
      s.unproved += has_tight_edge(v) == 0 || (with_parents && parent_is_tight(v) == 0) ? 1 : 0;
    if (far) return;
    ++s.reached;
    s.edges += static_cast<std::uint64_t>(offsets(v + 1) - offsets(v));
    s.farthest = Kokkos::max(s.farthest, static_cast<double>(distance(v)));
  }
  KOKKOS_FUNCTION void init(distance_sums& s) const { s = {}; }
  KOKKOS_FUNCTION void join(distance_sums& a, distance_sums const& b) const {
    a.reached += b.reached;
    a.edges += b.edges;
    a.farthest = Kokkos::max(a.farthest, b.farthest);
    a.wrong += b.wrong;
    a.unproved += b.unproved;
  }
};

/// Proves the vertices that are reached only by edges from vertices at the same distance: edges of
/// weight zero, or with weights that vanish in rounding. Such an edge must come from a proved
/// vertex.
class zero_weight_proof {
 public:
  template <class Graph, class Weight>
  zero_weight_proof(Graph const& graph, array<Weight> const& weight, array<Weight> const& distance,
                    array<std::uint32_t> const& parent, array<std::uint8_t> const& has_tight_edge,
                    array<std::uint8_t> const& parent_is_tight, std::uint64_t source)
      : m_proved(copy_of(has_tight_edge)),
        m_parent_is_tight(copy_of(parent_is_tight)),
        m_parent(copy_of(parent)) {
    auto const offsets = copy_of(graph.row_offsets());
    auto const columns = copy_of(graph.column_indices());
    auto const weights = copy_of(weight), distances = copy_of(distance);
    std::vector<std::uint8_t> parent_is_equal(m_proved.size());
    std::vector<std::uint32_t> queue;
    m_proved[source] = 1;
    if (!m_parent.empty()) m_parent_is_tight[source] = 1;
    for (std::uint32_t v = 0; v < m_proved.size(); ++v)
      if (m_proved[v] != 0) queue.push_back(v);
    while (!queue.empty()) {
      std::uint32_t const u = queue.back();
      queue.pop_back();
      for (auto e = offsets[u]; e < offsets[u + std::size_t(1)]; ++e) {
        std::uint32_t const v = columns[e];
        if (distances[u] != distances[v] || add_weight(distances[u], weights[e]) != distances[v])
          continue;
        if (!m_parent.empty() && m_parent[v] == u) parent_is_equal[v] = 1;
        if (m_proved[v] != 0) continue;
        m_proved[v] = 1;
        queue.push_back(v);
      }
    }
    follow_parents(parent_is_equal);
    for (std::size_t v = 0; v < m_proved.size(); ++v)
      m_wrong += distances[v] != no_distance<Weight> &&
                         (m_proved[v] == 0 || (!m_parent.empty() && m_parent_is_tight[v] == 0))
                     ? 1
                     : 0;
  }

  std::uint64_t wrong() const { return m_wrong; }

 private:
  template <class View>
  static auto copy_of(View const& view) {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    using value = typename View::non_const_value_type;
    return std::vector<value>(host.data(), host.data() + host.extent(0));
  }
  /// Proves parents at the same distance: such a parent is valid if its own parent is. A cycle of
  /// parents is not.
  void follow_parents(std::vector<std::uint8_t>& parent_is_equal) {
    std::vector<std::uint32_t> path;
    for (std::uint32_t first = 0; first < m_parent.size(); ++first) {
      std::uint32_t v = first;
      for (; m_parent_is_tight[v] == 0 && parent_is_equal[v] != 0; v = m_parent[v]) {
        parent_is_equal[v] = 0;  // is followed once
        path.push_back(v);
      }
      for (std::uint32_t const u : path) m_parent_is_tight[u] = m_parent_is_tight[v];
      path.clear();
    }
  }

  std::vector<std::uint8_t> m_proved, m_parent_is_tight;
  std::vector<std::uint32_t> m_parent;
  std::uint64_t m_wrong = 0;
};

template <class Graph, class Weight>
distance_sums prove(space const& exec, Graph const& graph, array<Weight> const& weight,
                    array<Weight> const& distance, array<std::uint32_t> const& parent,
                    std::uint64_t source) {
  std::uint64_t const n = graph.vertices();
  array<std::uint8_t> const has_tight_edge("tight edges", n), parent_is_tight("tight parents", n);
  std::uint64_t wrong = 0;
  Kokkos::parallel_reduce(
      "karpos::perf::check_edges", range(exec, n),
      check_edges<Graph, Weight>{graph.row_offsets(), graph.column_indices(), weight, distance,
                                 parent, has_tight_edge, parent_is_tight},
      wrong);
  distance_sums sums;
  Kokkos::parallel_reduce("karpos::perf::check_vertices", range(exec, n),
                          check_vertices<Graph, Weight>{graph.row_offsets(), distance, parent,
                                                        has_tight_edge, parent_is_tight, source},
                          sums);
  exec.fence("karpos::perf: proof of distances");
  sums.wrong += wrong;
  if (sums.unproved > 0)
    sums.wrong +=
        zero_weight_proof(graph, weight, distance, parent, has_tight_edge, parent_is_tight, source)
            .wrong();
  return sums;
}

}  // namespace karpos::perf
