// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
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

}  // namespace karpos::perf
