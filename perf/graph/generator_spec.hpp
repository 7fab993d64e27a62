// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// A graph that is made instead of read. Every family is undirected: each edge drawn counts both ways, self loops
/// and repetitions are removed unless csr_options say otherwise.
///
///   kron:scale=20,ef=16,seed=1            Graph500: R-MAT with a=0.57 b=0.19 c=0.19
///   rmat:scale=22,ef=32,seed=1            R-MAT with a=0.45 b=0.15 c=0.15; a=, b=, c= change that
///   uniform:scale=22,ef=16,seed=1         both ends of every edge are uniform
///   grid:4096x4096,drop=0.3,seed=1        rows x columns with four neighbours; drops that part of the edges
///
/// Of the first three, ef * 2^scale edges are drawn among 2^scale vertices. permute=1 renames vertices at random,
/// permute=0 leaves the ids by which they are drawn; 1 for kron and rmat, 0 for grids unless said otherwise.
struct generator_spec {
  enum class families { kron, rmat, uniform, grid };

  families family = families::kron;
  std::uint64_t scale = 20;
  std::uint64_t edge_factor = 16;
  std::uint64_t seed = 1;
  double a = 0.57, b = 0.19, c = 0.19;        ///< kron, rmat: chances of the quadrants but the last
  std::uint64_t rows = 1024, columns = 1024;  ///< grid
  double drop = 0;                            ///< grid: chance of an edge to be left out
  bool permute = true;

  std::uint64_t vertices() const;
  /// Undirected edges that are drawn, or places for edges in a grid; no graph has more.
  std::uint64_t candidates() const;
};

/// Whether the word after `karpos bfs` and the like names a generator: letters, then a colon. A file of such a name
/// is reached as ./NAME.
bool is_generator(std::string const& graph);

/// Throws std::invalid_argument that lists what exists: for an unknown name or key, a value out of range.
generator_spec parse_generator(std::string const& text);

/// The whole of a spec, defaults included; parse_generator reads it back.
std::string to_string(generator_spec const& spec);

}  // namespace karpos::perf
