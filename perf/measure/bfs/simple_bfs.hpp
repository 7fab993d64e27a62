// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <karpos/device/atomics.hpp>
#include <utility>

#include "perf/measure/support/space.hpp"

namespace karpos::perf {

template <class Graph>
struct expand_simply {
  typename Graph::offsets_view offsets;
  typename Graph::columns_view columns;
  array<std::int32_t> distance;
  array<std::uint32_t> frontier, next;
  Kokkos::View<std::uint32_t, memory> count;
  std::int32_t level;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint32_t const v = frontier(i);
    for (auto e = offsets(v); e < offsets(v + 1); ++e) {
      std::uint32_t const w = columns(e);
      // Most neighbours have been visited: a load first avoids their compare-and-swap.
      auto const* const seen = reinterpret_cast<std::uint32_t const*>(&distance(w));
      if (device::load_relaxed(seen) != ~0u) continue;
      if (Kokkos::atomic_compare_exchange(&distance(w), -1, level) == -1)
        next(Kokkos::atomic_fetch_inc(&count())) = w;
    }
  }
};

/// The straightforward breadth-first search: top-down, with a thread for each vertex of the
/// frontier, a queue with one atomic counter, and the host between levels. The baseline of `karpos
/// bfs --baseline`.
template <class Graph>
class simple_bfs {
 public:
  simple_bfs(space const& exec, Graph const& graph)
      : distance(make_array<std::int32_t>("simple distances", graph.vertices())),
        m_exec(exec),
        m_graph(graph),
        m_queue(make_array<std::uint32_t>("simple queue", graph.vertices())),
        m_next(make_array<std::uint32_t>("simple queue", graph.vertices())),
        m_count("simple count") {}

  void operator()(std::uint64_t source) {
    Kokkos::deep_copy(m_exec, distance, -1);
    Kokkos::deep_copy(m_exec, Kokkos::subview(distance, source), 0);
    Kokkos::deep_copy(m_exec, Kokkos::subview(m_queue, 0), static_cast<std::uint32_t>(source));
    std::uint32_t vertices = 1;
    for (std::int32_t level = 1; vertices > 0; ++level) {
      Kokkos::deep_copy(m_exec, m_count, 0u);
      Kokkos::parallel_for("karpos::perf::simple_bfs", range(m_exec, vertices),
                           expand_simply<Graph>{m_graph.row_offsets(), m_graph.column_indices(),
                                                distance, m_queue, m_next, m_count, level});
      Kokkos::deep_copy(m_exec, vertices, m_count);
      m_exec.fence("karpos::perf::simple_bfs: vertices of a level");
      std::swap(m_queue, m_next);
    }
  }

  array<std::int32_t> distance;  ///< of the last search

 private:
  space m_exec;
  Graph m_graph;
  array<std::uint32_t> m_queue, m_next;
  Kokkos::View<std::uint32_t, memory> m_count;
};

}  // namespace karpos::perf
