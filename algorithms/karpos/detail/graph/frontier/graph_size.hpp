// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace karpos::detail::frontier {

/// The most vertices: they have 32-bit numbers, and 64 numbers above them stay free.
inline constexpr std::uint64_t max_vertices = (std::uint64_t(1) << 32) - 64;
/// The most edges. Steps of a GPU compute edge numbers up to a grid's width beyond the last edge,
/// and these must not overflow.
template <class Offset>
inline constexpr std::uint64_t max_edges =
    sizeof(Offset) == 4 ? (std::uint64_t(1) << 32) - (1 << 21) : ~std::uint64_t(0);

/// Throws std::length_error if a graph is too large for the number types of `user`.
template <class Graph>
void require_size(char const* user, Graph const& graph,
                  std::uint64_t vertices_at_most = max_vertices) {
  auto const require_at_most = [&](std::uint64_t max, std::uint64_t n, char const* of,
                                   char const* suggestion) {
    if (n > max)
      throw std::length_error(std::string("karpos: a graph for ") + user + " has " +
                              std::to_string(n) + " " + of + " (at most " + std::to_string(max) +
                              suggestion);
  };
  require_at_most(vertices_at_most, graph.vertices(), "vertices",
                  ", for its queues hold 32-bit entries): leave out vertices without edges, or "
                  "take the graph in parts");
  require_at_most(max_edges<typename Graph::offset_type>, graph.edges(), "edges",
                  " with offsets of 32 bits): use a csr_graph with offsets of 64 bits");
}

/// Throws std::length_error if a graph for `user` has rows of 2^31 edges or more, because its lanes
/// count edges in 31 bits.
inline void require_no_long_row(std::string const& user, std::uint64_t long_rows) {
  if (long_rows > 0)
    throw std::length_error("karpos: a graph for " + user +
                            " has vertices of 2^31 edges or more, " + std::to_string(long_rows) +
                            " of them (at most 2^31 - 1 edges each): remove duplicate edges, as "
                            "build_csr does");
}

/// Returns: the message that explains why a search of a graph of n vertices was stopped.
inline std::string stop_message(std::uint64_t visited, std::int32_t levels, std::uint64_t n) {
  return "a search was stopped (it counted " + std::to_string(visited) +
         " visited vertices and level " + std::to_string(levels) + " in a graph of " +
         std::to_string(n) +
         " vertices): write neither the graph nor results or workspace meanwhile, or report this";
}

}  // namespace karpos::detail::frontier
