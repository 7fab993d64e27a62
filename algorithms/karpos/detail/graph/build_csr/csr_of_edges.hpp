// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/graph/build_csr/counting.hpp"
#include "karpos/detail/graph/build_csr/sorting.hpp"
#include "karpos/device/space.hpp"

// Converts an edge list to compressed rows, and rows to the sources of their edges.
//
//   edges     | 2,3 | 0,2 | 2,0 | 0,1 |     source, target (edge_list.hpp)
//   offsets   | 0 | 2 | 2 | 4 | 4 |         where the rows of vertices 0 … 3 begin
//   columns   | 1 | 2 | 0 | 3 |             their targets, sorted
//   sources   | 0 | 0 | 2 | 2 |             write_sources: back to coordinates
//
// CPUs count each row, move its targets there, and sort them (counting.hpp). GPUs sort the edges as
// words, and write the rows by prefix sums (sorting.hpp). Tests: build_csr.

namespace karpos::detail::build_csr {

/// CPUs count and GPUs sort; with the methods swapped, each would be several times slower.
template <class ExecSpace>
inline constexpr bool sorts_edges = device::is_device<ExecSpace>;

/// Builds the graph of an edge list. Requires: all ids are below `vertices`.
template <class Graph, class ExecSpace, class List>
Graph csr_of_edges(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                   csr_options const& options) {
  require_graph_fits<Graph>(vertices, list.size(), options);
  Graph graph;
  if constexpr (sorts_edges<ExecSpace>)
    graph = csr_by_sorting<Graph>(exec, vertices, list, options);
  else
    graph = csr_by_counting<Graph>(exec, vertices, list, options);
  return options.symmetrise ? graph.undirected() : graph;
}

/// Writes the source of each edge: from compressed rows to coordinates. A thread finds the row of
/// its first edge by bisection, and walks on from there for a block of edges.
template <int Block, class Offsets, class Rows>
struct find_sources {
  Offsets offsets;
  Rows rows;

  KOKKOS_FUNCTION void operator()(std::uint64_t block) const {
    std::uint64_t e = block * Block;
    std::uint64_t const end = Kokkos::min(e + Block, std::uint64_t(rows.extent(0)));
    std::uint64_t low = 0, high = offsets.extent(0) - 1;  // offsets(low) <= e < offsets(high)
    while (high - low > 1) {
      std::uint64_t const middle = (low + high) / 2;
      (static_cast<std::uint64_t>(offsets(middle)) <= e ? low : high) = middle;
    }
    for (; e < end; ++e) {
      while (static_cast<std::uint64_t>(offsets(low + 1)) <= e) ++low;
      rows(e) = static_cast<typename Rows::value_type>(low);
    }
  }
};

template <class ExecSpace, class Offsets, class Rows>
void write_sources(ExecSpace const& exec, Offsets const& offsets, Rows const& rows) {
  // One edge a thread on GPUs: neighbouring threads write neighbouring words.
  constexpr int block = sorts_edges<ExecSpace> ? 1 : 1024;
  Kokkos::parallel_for("karpos::transpose: sources",
                       index_range(exec, (rows.extent(0) + block - 1) / block),
                       find_sources<block, Offsets, Rows>{offsets, rows});
}

}  // namespace karpos::detail::build_csr
