// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

// All edges of a graph, each with its row, divided into chunks of equal size.

namespace karpos::detail::sssp {

template <class Rows>
struct all_edges {
  static constexpr std::uint64_t chunk_edges = 64;
  Rows rows;
  std::uint64_t vertices, edges;

  std::uint64_t chunks() const { return (edges + chunk_edges - 1) / chunk_edges; }

  /// Runs f(u, e) for the edges e of a chunk; u is the vertex that e leads out of.
  template <class F>
  KOKKOS_FUNCTION void for_each_in_chunk(std::uint64_t chunk, F const& f) const {
    std::uint64_t const begin = chunk * chunk_edges;
    std::uint64_t const end = Kokkos::min(begin + chunk_edges, edges);
    std::uint64_t u = row_of(begin, 0);
    for (std::uint64_t e = begin; e < end; ++e) {
      if (e >= rows.end(u)) u = e < rows.end(u + 1) ? u + 1 : row_of(e, u + 1);
      f(u, e);
    }
  }

 private:
  /// Returns the row of edge e: the last one, from `first` on, that does not begin after e.
  KOKKOS_FUNCTION std::uint64_t row_of(std::uint64_t e, std::uint64_t first) const {
    std::uint64_t low = first, high = vertices;
    while (high - low > 1) {
      std::uint64_t const middle = low + (high - low) / 2;
      (rows.begin(middle) <= e ? low : high) = middle;
    }
    return low;
  }
};

}  // namespace karpos::detail::sssp
