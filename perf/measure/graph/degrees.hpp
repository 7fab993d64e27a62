// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "perf/measure/support/context.hpp"

namespace karpos::perf {

/// The numbers of edges of a graph's vertices.
class degree_distribution {
 public:
  /// Vertices that have the same degree.
  struct group {
    std::uint64_t degree, vertices;
  };

  degree_distribution() = default;
  /// Takes the row offsets of a graph: n + 1 numbers for n vertices.
  template <class Offset>
  degree_distribution(Offset const* offsets, std::uint64_t vertices) {
    std::vector<std::uint64_t> count;
    for (std::uint64_t v = 0; v < vertices; ++v) {
      auto const degree = static_cast<std::uint64_t>(offsets[v + 1] - offsets[v]);
      if (degree >= count.size()) count.resize(degree + 1);
      ++count[degree];
    }
    for (std::uint64_t d = 0; d < count.size(); ++d)
      if (count[d] > 0) m_groups.push_back({d, count[d]});
  }

  std::vector<group> const& groups() const { return m_groups; }  ///< by ascending degree
  std::uint64_t vertices() const;
  std::uint64_t edges() const;
  std::uint64_t largest() const { return m_groups.empty() ? 0 : m_groups.back().degree; }
  double mean() const;
  /// Returns the fraction of the vertices that have fewer edges than `degree`.
  double vertices_below(std::uint64_t degree) const;
  /// Returns the fraction of all edges that vertices with fewer edges than `degree` have.
  double edges_below(std::uint64_t degree) const;
  /// Returns the smallest number of vertices that have this fraction of all edges together.
  std::uint64_t hubs_with(double edges) const;
  /// Returns the fraction of all edges that the first `fraction` of the vertices have, by ascending
  /// degree.
  double edges_of_first(double fraction) const;

 private:
  std::vector<group> m_groups;
};

/// Returns the degrees of a graph in the memory of a device.
template <class Graph>
degree_distribution degrees_of(Graph const& graph) {
  auto const offsets =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.row_offsets());
  return {offsets.data(), graph.vertices()};
}

json to_json(degree_distribution const& degrees);
void print(degree_distribution const& degrees);

}  // namespace karpos::perf
