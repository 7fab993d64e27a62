// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <karpos/detail/graph/build_csr/plan.hpp>
#include <karpos/hash.hpp>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/support/sequences.hpp"

// Edge lists whose edges are functions of their position: equal on every backend, with any number
// of threads.

namespace karpos::perf {

/// Counter-based random words: word k of draw i is a hash of the seed, of i and of k.
struct random_words {
  std::uint64_t start;

  static random_words of(std::uint64_t seed) { return {scramble(seed + 1)}; }
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const { return mix(start + i); }
  KOKKOS_FUNCTION static std::uint64_t next(std::uint64_t draw, std::uint64_t k) {
    return mix(draw + (k + 1) * 0x9e3779b97f4a7c15ULL);
  }
};

/// Returns a probability in units of 2^-32, to be compared with 32 random bits.
inline std::uint64_t probability_bits(double p) { return static_cast<std::uint64_t>(p * 0x1p32); }

/// A renumbering of vertices: a bijection of [0, n) that is computed where it is used.
struct renumbering {
  permutation order;
  bool active;

  static renumbering of(generator_spec const& spec) {
    return {permutation::of(spec.vertices(), scramble(spec.seed)), spec.permute};
  }
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t v) const { return active ? order(v) : v; }
};

/// Edges of an R-MAT graph. Each edge descends through the adjacency matrix, from quadrant to
/// quadrant, to one of its cells.
///
/// Source: Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004; the
/// Graph500 specification, graph500.org.
struct rmat_edges {
  std::uint64_t edges, scale;
  std::uint64_t a, ab, abc;  // ends of the quadrants in [0, 2^32)
  random_words random;
  renumbering renumber;

  static rmat_edges of(generator_spec const& s) {
    return {s.candidates(),
            s.scale,
            probability_bits(s.a),
            probability_bits(s.a + s.b),
            probability_bits(s.a + s.b + s.c),
            random_words::of(s.seed),
            renumbering::of(s)};
  }
  std::uint64_t size() const { return edges; }
  KOKKOS_FUNCTION detail::build_csr::edge operator()(std::uint64_t i) const {
    std::uint64_t const draw = random(i);
    std::uint64_t source = 0, target = 0, word = 0;
    for (std::uint64_t level = 0; level < scale; ++level) {
      word = level % 2 == 0 ? random_words::next(draw, level / 2) : word >> 32;
      std::uint64_t const at = word & 0xffffffffu;
      source = source << 1 | (at >= ab);
      target = target << 1 | ((at >= a) ^ (at >= ab) ^ (at >= abc));
    }
    return {renumber(source), renumber(target)};
  }
};

struct uniform_edges {
  std::uint64_t edges, scale;
  random_words random;

  static uniform_edges of(generator_spec const& s) {
    return {s.candidates(), s.scale, random_words::of(s.seed)};
  }
  std::uint64_t size() const { return edges; }
  KOKKOS_FUNCTION detail::build_csr::edge operator()(std::uint64_t i) const {
    std::uint64_t const word = random(i);
    return {word >> (64 - scale), word & ((std::uint64_t(1) << scale) - 1)};
  }
};

/// Edges whose ends follow a power law. Edge i starts at vertex i, as long as there is one, so that
/// no vertex is isolated; all other ends are drawn.
///
/// Source: Chung, Lu, "The average distances in random graphs with given expected degrees",
/// PNAS 2002.
struct powerlaw_edges {
  std::uint64_t edges;
  random_words random;
  rank_sequence rank_of;
  renumbering renumber;

  static powerlaw_edges of(generator_spec const& s) {
    return {s.candidates(), random_words::of(s.seed),
            rank_sequence::of(s.vertices(), s.skew, shift_of(s)), renumbering::of(s)};
  }
  std::uint64_t size() const { return edges; }
  KOKKOS_FUNCTION detail::build_csr::edge operator()(std::uint64_t i) const {
    std::uint64_t const draw = random(i);
    return {renumber(i < rank_of.n ? i : drawn(draw, 0)), renumber(drawn(draw, 1))};
  }

 private:
  KOKKOS_FUNCTION std::uint64_t drawn(std::uint64_t draw, std::uint64_t end) const {
    return rank_of(static_cast<double>(random_words::next(draw, end) >> 11) * 0x1p-53);
  }
  /// Returns the shift by which rank 0 is expected to have `top` edges, or fewer.
  static double shift_of(generator_spec const& s) {
    if (s.top == 0) return 1;
    auto const n = s.vertices(), m = s.candidates();
    auto const ends = static_cast<double>(2 * m - std::min(n, m));
    double low = 1e-6, high = 1e3 * static_cast<double>(n);
    for (int i = 0; i < 80; ++i) {
      double const middle = std::sqrt(low * high);
      bool const above =
          ends * rank_sequence::of(n, s.skew, middle).probability(0) > static_cast<double>(s.top);
      (above ? low : high) = middle;
    }
    return high;
  }
};

/// Edges of a grid: edge 2v goes from v to the right, edge 2v + 1 downwards. An edge that does not
/// exist, because v is at the border or the edge was dropped, becomes a self loop.
struct grid_edges {
  std::uint64_t rows, columns, drop;
  random_words random;
  renumbering renumber;

  static grid_edges of(generator_spec const& s) {
    return {s.rows, s.columns, probability_bits(s.drop), random_words::of(s.seed),
            renumbering::of(s)};
  }
  std::uint64_t size() const { return 2 * rows * columns; }
  KOKKOS_FUNCTION detail::build_csr::edge operator()(std::uint64_t i) const {
    std::uint64_t const v = i / 2;
    bool const down = i % 2 == 1;
    bool const exists = down ? v + columns < rows * columns : (v + 1) % columns != 0;
    bool const kept = exists && (random(i) >> 32) >= drop;
    return {renumber(v), renumber(!kept ? v : down ? v + columns : v + 1)};
  }
};

/// Returns f(edges), for the list of edges that a spec describes.
template <class F>
auto with_edges_of(generator_spec const& spec, F const& f) {
  using families = generator_spec::families;
  if (spec.family == families::grid) return f(grid_edges::of(spec));
  if (spec.family == families::uniform) return f(uniform_edges::of(spec));
  if (spec.family == families::powerlaw) return f(powerlaw_edges::of(spec));
  return f(rmat_edges::of(spec));
}

}  // namespace karpos::perf
