// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "karpos/bfs_batch_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/detail/graph/bfs_batch/state.hpp"
#include "karpos/detail/index_range.hpp"

// Runs the searches of a pass one by one. In graphs with many levels of few vertices, a pass reads
// all words of its bitmaps at every level. Eight searches write their distances to the memory of
// the bit planes, then all eight of a vertex are written in the user's order at once.

namespace karpos {

template <execution_space ExecSpace, class Graph>
class bfs_workspace;
template <execution_space ExecSpace, class Graph>
class bfs_search;

}  // namespace karpos

namespace karpos::detail::bfs_batch {

/// Number of distances of 32 bits that fit into the bit planes of a vertex.
inline constexpr int rows_in_planes = planes * sizeof(word) / sizeof(std::int32_t);

/// Counts the vertices of a row with distances up to max_distance, and adds these distances up.
struct sum_row {
  struct value_type {
    std::uint64_t visited, distances;
  };
  std::int32_t const* row;
  std::int32_t max_distance;

  KOKKOS_FUNCTION void init(value_type& sum) const { sum = {0, 0}; }
  KOKKOS_FUNCTION void join(value_type& sum, value_type const& other) const {
    sum.visited += other.visited;
    sum.distances += other.distances;
  }
  KOKKOS_FUNCTION void operator()(std::uint64_t v, value_type& sum) const {
    std::int32_t const d = row[v];
    bool const counts = d >= 0 && d <= max_distance;
    sum.visited += counts ? 1 : 0;
    sum.distances += counts ? static_cast<std::uint64_t>(d) : 0;
  }
};

/// Writes the distances of some searches to vertex v, in the layout of distance_rows.
template <class View>
struct write_rows {
  View to;
  std::uint64_t first;  // source of the first row
  int count;
  local_vertex const* rank;
  std::int32_t const* rows;
  std::uint64_t vertices;
  std::int32_t max_distance;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    std::int32_t const* const from = rows + rank[v];
    for (int k = 0; k < count; ++k) {
      std::int32_t const d = from[static_cast<std::uint64_t>(k) * vertices];
      to(first + static_cast<std::uint64_t>(k), v) =
          static_cast<typename View::non_const_value_type>(d > max_distance ? -1 : d);
    }
  }
};

template <class ExecSpace, class Graph>
struct one_by_one {
  using memory_space = typename Graph::memory_space;

  ExecSpace exec;
  bfs_workspace<ExecSpace, Graph> workspace;
  local_vertex const* rank;
  word* plane;
  std::int32_t max_distance;
  launch_mode driver;

  /// Searches from each of some vertices, given by their new numbers, and appends the report of
  /// each search to `to`.
  template <class Distances>
  void run(local_vertex const* sources, int searches, Distances const& distances,
           std::vector<bfs_source_report>& to) const {
    std::uint64_t const n = workspace.vertices();
    auto* const rows = reinterpret_cast<std::int32_t*>(plane);
    for (int first = 0; first < searches; first += rows_in_planes) {
      int const count = std::min(searches - first, rows_in_planes);
      for (int k = 0; k < count; ++k)
        to.push_back(search(sources[first + k], rows + static_cast<std::uint64_t>(k) * n));
      if constexpr (Distances::wanted) {
        using step = write_rows<decltype(distances.to)>;
        Kokkos::parallel_for("karpos::bfs_batch::rows", index_range(exec, n),
                             step{distances.to, distances.first + static_cast<std::uint64_t>(first),
                                  count, rank, rows, n, max_distance});
      }
    }
    exec.fence("karpos::bfs_batch: one by one");
  }

 private:
  bfs_source_report search(local_vertex source, std::int32_t* row) const {
    std::uint64_t const n = workspace.vertices();
    Kokkos::View<std::int32_t*, memory_space, Kokkos::MemoryUnmanaged> const distances(row, n);
    bfs_search<ExecSpace, Graph> const one(exec, workspace);
    Kokkos::View<typename Graph::vertex_type*, memory_space> const no_parents;
    one.start(source, distances, no_parents, {.driver = driver});
    auto const found = one.report();
    sum_row::value_type sum{};
    Kokkos::parallel_reduce("karpos::bfs_batch::sums", index_range(exec, n),
                            sum_row{row, max_distance}, sum);
    auto const most = static_cast<std::int64_t>(max_distance) + 1;
    return {static_cast<std::int32_t>(std::min<std::int64_t>(found.levels, most)), sum.visited,
            sum.distances};
  }
};

}  // namespace karpos::detail::bfs_batch
