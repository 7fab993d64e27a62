// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <karpos/device/atomics.hpp>
#include <karpos/device/launch.hpp>
#include <karpos/device/space.hpp>

#include "perf/measure/support/space.hpp"

// The first preset of `karpos bfs --preset`: breadth-first search by a status array alone. Each
// level scans all vertices; there is no queue, no class of degrees and no cache.

namespace karpos::perf {

/// Expands one level. Top-down, the vertices of the frontier write the next level to their
/// unvisited neighbours; this takes no atomic operation, as all write the same value. Bottom-up,
/// unvisited vertices search for a neighbour in the frontier.
template <class Graph>
struct expand_status {
  typename Graph::offsets_view offsets;
  typename Graph::columns_view columns;
  array<std::int32_t> status;
  std::int32_t level;  ///< of the frontier
  bool bottom_up;

  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t v) const {
    std::int32_t const at = t.once([&] { return load(v); });
    if (at != (bottom_up ? -1 : level)) return;
    std::uint64_t const end = offsets(v + 1);
    for (std::uint64_t e = offsets(v); e < end; e += Tile::width) {
      auto const found = t.ballot([&](int lane) {
        std::uint64_t const mine = e + static_cast<std::uint64_t>(lane);
        return mine < end && visit(columns(mine));
      });
      if (!found) continue;
      t.once([&] {
        store(v);
        return 0;
      });
      return;
    }
  }

 private:
  KOKKOS_FUNCTION std::uint32_t* word(std::uint64_t v) const {
    return reinterpret_cast<std::uint32_t*>(&status(v));
  }
  KOKKOS_FUNCTION std::int32_t load(std::uint64_t v) const {
    return static_cast<std::int32_t>(device::load_relaxed(word(v)));
  }
  KOKKOS_FUNCTION void store(std::uint64_t v) const {
    device::store_relaxed(word(v), static_cast<std::uint32_t>(level + 1));
  }
  /// Visits a neighbour. Returns whether it determines the distance of the vertex itself.
  KOKKOS_FUNCTION bool visit(std::uint64_t neighbour) const {
    std::int32_t const at = load(neighbour);
    if (bottom_up) return at == level;
    if (at == -1) store(neighbour);
    return false;
  }
};

/// Vertices and edges of a level.
struct level_size {
  std::uint64_t vertices = 0, edges = 0;
};
template <class Graph>
struct count_level {
  using value_type = level_size;
  typename Graph::offsets_view offsets;
  array<std::int32_t> status;
  std::int32_t level;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, level_size& sum) const {
    if (status(v) != level) return;
    ++sum.vertices;
    sum.edges += static_cast<std::uint64_t>(offsets(v + 1) - offsets(v));
  }
  KOKKOS_FUNCTION void init(level_size& sum) const { sum.vertices = sum.edges = 0; }
  KOKKOS_FUNCTION void join(level_size& to, level_size const& from) const {
    to.vertices += from.vertices;
    to.edges += from.edges;
  }
};

/// Writes the distances from a source to the array, -1 for unreachable vertices. The direction is
/// chosen as by bfs_direction::beamer, with its alpha and beta. Blocks in every level. Returns the
/// first level that is expanded bottom-up, or -1.
template <class Graph>
std::int32_t status_array_bfs(space const& exec, Graph const& graph, std::uint64_t source,
                              double alpha, double beta, array<std::int32_t> const& status) {
  constexpr int width = device::is_device<space> ? 32 : 1;
  Kokkos::deep_copy(exec, status, -1);
  Kokkos::deep_copy(exec, Kokkos::subview(status, source), 0);
  std::uint64_t const n = graph.vertices();
  auto const size_of = [&](std::int32_t level) {
    level_size size;
    Kokkos::parallel_reduce("karpos::perf::status_array_bfs: level", range(exec, n),
                            count_level<Graph>{graph.row_offsets(), status, level}, size);
    exec.fence("karpos::perf::status_array_bfs: size of a level");
    return size;
  };
  bool up = false, grows = true;
  std::int32_t turned = -1;
  level_size frontier = size_of(0);
  double unexplored = static_cast<double>(graph.edges());
  for (std::int32_t level = 0; frontier.vertices > 0; ++level) {
    auto const edges = static_cast<double>(frontier.edges);
    unexplored -= edges;
    up = graph.has_transpose() &&
         (up ? grows || static_cast<double>(frontier.vertices) * beta > static_cast<double>(n)
             : grows && edges * alpha > unexplored);
    if (up && turned < 0) turned = level;
    auto const& offsets = up ? graph.in_row_offsets() : graph.row_offsets();
    auto const& columns = up ? graph.in_column_indices() : graph.column_indices();
    device::for_each_tile<width>("karpos::perf::status_array_bfs", exec, n,
                                 expand_status<Graph>{offsets, columns, status, level, up});
    level_size const next = size_of(level + 1);
    grows = next.vertices > frontier.vertices;
    frontier = next;
  }
  return turned;
}

}  // namespace karpos::perf
