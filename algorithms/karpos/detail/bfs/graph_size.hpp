// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace karpos::detail::bfs {

/// Vertices that have 32-bit numbers, and room above them.
inline constexpr std::uint64_t max_vertices = (std::uint64_t(1) << 32) - 64;
/// Edges whose numbers fit: steps of a GPU compute some up to a grid's width beyond the last edge.
template <class Offset>
inline constexpr std::uint64_t max_edges =
    sizeof(Offset) == 4 ? (std::uint64_t(1) << 32) - (1 << 21) : ~std::uint64_t(0);

/// Throws std::length_error for a graph that is too large for what `user` computes with.
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
                  "): its queues hold 32-bit entries");
  require_at_most(max_edges<typename Graph::offset_type>, graph.edges(), "edges",
                  " with offsets of 32 bits): use offsets of 64 bits");
}

}  // namespace karpos::detail::bfs
