// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "perf/measure/support/sequences.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Marks which of the vertices order(first), order(first + 1), … have an edge.
template <class Graph>
struct mark_eligible {
  typename Graph::offsets_view offsets;
  permutation order;
  std::uint64_t first;
  array<std::uint8_t> eligible;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const v = order(first + i);
    eligible(i) = offsets(v + 1) != offsets(v);
  }
};

template <class Graph>
struct find_first_with_edges {
  typename Graph::offsets_view offsets;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& first) const {
    if (offsets(v + 1) != offsets(v) && v < first) first = v;
  }
};

/// Returns the smallest vertex with an outgoing edge, or vertices() if there is none.
template <class Graph>
std::uint64_t first_with_edges(space const& exec, Graph const& graph) {
  std::uint64_t first = graph.vertices();
  Kokkos::parallel_reduce("karpos::perf::first with edges", range(exec, graph.vertices()),
                          find_first_with_edges<Graph>{graph.row_offsets()},
                          Kokkos::Min<std::uint64_t>(first));
  exec.fence("karpos::perf: first with edges");
  return first < graph.vertices() ? first : graph.vertices();
}

template <class Graph>
struct count_if_without_edges {
  typename Graph::offsets_view offsets;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& count) const {
    count += offsets(v + 1) == offsets(v);
  }
};

template <class Graph>
std::uint64_t count_without_edges(space const& exec, Graph const& graph) {
  std::uint64_t count = 0;
  Kokkos::parallel_reduce("karpos::perf::without edges", range(exec, graph.vertices()),
                          count_if_without_edges<Graph>{graph.row_offsets()}, count);
  exec.fence("karpos::perf: without edges");
  return count;
}

/// Returns the message about fewer suitable vertices than asked for. `option` is the option that
/// asked for them, or empty.
inline std::string too_few_sources(std::string const& option, std::uint64_t count,
                                   std::uint64_t found) {
  if (found == 0)
    return "karpos: there is no vertex to draw (the graph has no edge): choose a vertex by "
           "--source" +
           (option.empty() ? "" : " in place of " + option);
  return "karpos: " + option + " is out of range (" + std::to_string(count) + " asked for, " +
         std::to_string(found) + (found == 1 ? " vertex has" : " vertices have") +
         " a neighbour): ask for fewer";
}

/// Draws distinct random vertices with at least one edge, as Graph500 does: in a random order of
/// all vertices, which skips isolated ones. `option` is the option that asked for them.
template <class Graph>
std::vector<std::uint64_t> draw_sources(space const& exec, Graph const& graph, std::uint64_t count,
                                        std::uint64_t seed, char const* option) {
  std::uint64_t const n = graph.vertices(), batch = std::min<std::uint64_t>(n, 1 << 16);
  // The seed differs from the one that renumbers generated vertices.
  permutation const order = permutation::of(n, scramble(seed) ^ 0x736f757263657321u);
  auto const eligible = make_array<std::uint8_t>("eligible sources", batch);
  auto const seen = Kokkos::create_mirror_view(eligible);
  std::vector<std::uint64_t> sources;
  for (std::uint64_t first = 0; first < n && sources.size() < count; first += batch) {
    std::uint64_t const length = std::min(batch, n - first);
    Kokkos::parallel_for("karpos::perf::eligible sources", range(exec, length),
                         mark_eligible<Graph>{graph.row_offsets(), order, first, eligible});
    Kokkos::deep_copy(exec, seen, eligible);
    exec.fence("karpos::perf: eligible sources");
    for (std::uint64_t i = 0; i < length && sources.size() < count; ++i)
      if (seen(i) != 0) sources.push_back(order(first + i));
  }
  if (sources.size() < count)
    throw std::invalid_argument(too_few_sources(option, count, sources.size()));
  return sources;
}

}  // namespace karpos::perf
