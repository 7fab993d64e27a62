// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/hash.hpp"

namespace karpos::distributed {

/// A random permutation of vertices that takes no memory: a function of the number of vertices and
/// a seed, the same on every rank and on devices. build_csr numbers vertices by it
/// (csr_options::permutation), so that the vertices of each rank are a random sample. A default
/// one, of no vertices, maps every number to itself.
///
/// Complexity: on average below two calls of the inner permutation, each of nine multiplications.
/// Source: cycle walking (Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002),
///   over a permutation of the numbers below a power of two, the smallest >= `vertices`.
class vertex_permutation {
 public:
  vertex_permutation() = default;
  vertex_permutation(std::uint64_t vertices, std::uint64_t seed)
      : m_vertices(vertices),
        m_seed(seed) {
    while (m_bits < 64 && (vertices - 1) >> m_bits != 0) ++m_bits;
  }

  /// Returns the number of vertex v. Requires: v is below vertices(), or this is a default one.
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t v) const {
    if (m_vertices < 2) return v;
    do
      for (std::uint64_t round = 0; round < rounds; ++round) {
        v = (v * factor + summand(round)) & mask();
        v ^= v >> shift();
      }
    while (v >= m_vertices);
    return v;
  }
  /// Returns the vertex that gets number v. Requires: as operator().
  KOKKOS_FUNCTION std::uint64_t inverse(std::uint64_t v) const {
    if (m_vertices < 2) return v;
    do
      for (std::uint64_t round = rounds; round-- > 0;) {
        v ^= v >> shift();  // its own inverse, because 2 * shift() is at least the number of bits
        v = (v - summand(round)) * inverse_factor & mask();
      }
    while (v >= m_vertices);
    return v;
  }

  std::uint64_t vertices() const { return m_vertices; }
  std::uint64_t seed() const { return m_seed; }

 private:
  static constexpr std::uint64_t rounds = 3;
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15ULL;
  static constexpr std::uint64_t inverse_factor = 0xf1de83e19937733dULL;  // modulo 2^64
  static_assert(factor * inverse_factor == 1);

  KOKKOS_FUNCTION std::uint64_t summand(std::uint64_t round) const { return mix(m_seed + round); }
  KOKKOS_FUNCTION std::uint64_t mask() const { return ~std::uint64_t(0) >> (64 - m_bits); }
  KOKKOS_FUNCTION int shift() const { return (m_bits + 1) / 2; }

  std::uint64_t m_vertices = 0, m_seed = 0;
  int m_bits = 0;
};

}  // namespace karpos::distributed
