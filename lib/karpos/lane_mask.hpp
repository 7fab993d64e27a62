// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

namespace karpos {

/// A set of positions in [0, N): lanes of a tile (a cooperative group), or slots that a probe of
/// a hash table reads at once. Bit i stands for position i.
///
/// Complexity: every operation is a constant number of instructions.
/// Requires: positions that are passed in are in [0, N); first() is called only on a nonempty set.
template <int N>
  requires(N >= 1 && N <= 64)
class lane_mask {
 public:
  using word = std::conditional_t<(N <= 32), std::uint32_t, std::uint64_t>;
  static constexpr int size = N;
  /// The mask of all positions.
  static constexpr word all = static_cast<word>(~word(0)) >> (8 * sizeof(word) - N);

  KOKKOS_FUNCTION constexpr explicit lane_mask(word bits = 0) : m_bits(bits) {}
  KOKKOS_FUNCTION static constexpr lane_mask of(int i) { return lane_mask(word(1) << i); }

  KOKKOS_FUNCTION constexpr explicit operator bool() const { return m_bits != 0; }
  KOKKOS_FUNCTION constexpr word bits() const { return m_bits; }
  KOKKOS_FUNCTION constexpr bool full() const { return m_bits == all; }
  KOKKOS_FUNCTION constexpr bool test(int i) const { return ((m_bits >> i) & 1u) != 0; }
  KOKKOS_FUNCTION int count() const { return Kokkos::Experimental::popcount_builtin(m_bits); }
  /// Returns the lowest position in the set.
  KOKKOS_FUNCTION int first() const { return Kokkos::Experimental::countr_zero_builtin(m_bits); }
  /// Returns the number of positions in the set below i: where lane i writes in a compaction.
  KOKKOS_FUNCTION int rank(int i) const { return lane_mask(m_bits & ((word(1) << i) - 1)).count(); }
  KOKKOS_FUNCTION constexpr lane_mask without_first() const {
    return lane_mask(m_bits & (m_bits - 1));
  }

  KOKKOS_FUNCTION friend constexpr bool operator==(lane_mask a, lane_mask b) {
    return a.m_bits == b.m_bits;
  }
  KOKKOS_FUNCTION friend constexpr lane_mask operator&(lane_mask a, lane_mask b) {
    return lane_mask(a.m_bits & b.m_bits);
  }
  KOKKOS_FUNCTION friend constexpr lane_mask operator|(lane_mask a, lane_mask b) {
    return lane_mask(a.m_bits | b.m_bits);
  }
  KOKKOS_FUNCTION constexpr lane_mask operator~() const { return lane_mask(all & ~m_bits); }

 private:
  word m_bits;
};

}  // namespace karpos
