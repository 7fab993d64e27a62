// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// A graph that is generated instead of read. Every family is undirected: each drawn edge counts in
/// both directions. Self loops and duplicates are removed unless csr_options say otherwise.
///
///   kron:scale=20,ef=16,seed=1            Graph500: R-MAT with a=0.57 b=0.19 c=0.19
///   rmat:scale=22,ef=32,seed=1            R-MAT with a=0.45 b=0.15 c=0.15; a=, b=, c= change that
///   uniform:scale=22,ef=16,seed=1         both ends of every edge are uniform
///   grid:4096x4096,drop=0.3,seed=1        rows x columns, four neighbours; drops 30 % of the edges
///   powerlaw:vertices=1e6,edges=1e7,skew=0.7,top=3e4,seed=1
///                                         degrees by a power law, as those of a social network
///
/// The first three draw ef * 2^scale edges among 2^scale vertices. permute=1 renumbers vertices at
/// random, permute=0 keeps the ids with which they were drawn. The default is 1 for kron, rmat and
/// powerlaw, and 0 for grids; uniform has no such key.
///
/// powerlaw: the vertex of rank k is an end of an edge with a probability of about
/// (k + shift)^-skew, times a constant. `top` bounds the expected degree of rank 0, by the shift;
/// without it the shift is 1. Every vertex has an edge, if there are as many edges.
struct generator_spec {
  enum class families { kron, rmat, uniform, grid, powerlaw };

  families family = families::kron;
  std::uint64_t scale = 20;
  std::uint64_t edge_factor = 16;
  std::uint64_t seed = 1;
  /// For kron and rmat: probabilities of the first three quadrants.
  double a = 0.57, b = 0.19, c = 0.19;
  std::uint64_t rows = 1024, columns = 1024;  ///< grid
  double drop = 0;                            ///< grid: probability that an edge is left out
  std::uint64_t listed_vertices = 1000000, listed_edges = 10000000;  ///< powerlaw
  double skew = 0.7;                                                 ///< powerlaw
  std::uint64_t top = 0;  ///< powerlaw: expected degree of rank 0, at most; 0: no bound
  bool permute = true;

  std::uint64_t vertices() const;
  /// Returns the number of undirected edges that are drawn, or of possible edges in a grid; no
  /// graph has more.
  std::uint64_t candidates() const;
};

/// Returns whether the argument of `karpos bfs` and the like names a generator: letters, then a
/// colon. A file with such a name can be given as ./NAME.
bool is_generator(std::string const& graph);

/// Parses a spec. Throws std::invalid_argument that lists the valid ones, for an unknown name or
/// key or a value out of range.
generator_spec parse_generator(std::string const& text);

/// Returns the whole spec, defaults included; parse_generator accepts the result.
std::string to_string(generator_spec const& spec);

}  // namespace karpos::perf
