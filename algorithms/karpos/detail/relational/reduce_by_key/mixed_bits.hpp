// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/hash.hpp"

// Keys as a reduction works on them. A bijection spreads every bit of a key over all of its bits
// when the key is loaded, and is undone when its group is written. In between, products of the
// mixed key choose its partition and its slot.
//
//   key  --mixed-->  bits  --unmixed-->  key
//                     |
//                     +-- times a multiplier of the split: high bits       partition
//                     +-- low bits, or times the golden ratio: high bits   slot of a table

namespace karpos::detail::reduce_by_key {

/// The two multipliers of mixed(). Each follows an exclusive or with the high half of the bits,
/// which is done once more at the end.
template <class Bits>
struct mixing;
template <>
struct mixing<std::uint32_t> {
  static constexpr std::uint32_t first = 0x21f0aaad, second = 0x735a2d97;
};
template <>
struct mixing<std::uint64_t> {
  static constexpr std::uint64_t first = 0x0e9846af9b1a615d, second = 0x0e9846af9b1a615d;
};

/// Returns the inverse of an odd number modulo 2^(8 * sizeof(Bits)). Each step of Newton's method
/// doubles the number of correct bits.
template <class Bits>
KOKKOS_FUNCTION constexpr Bits inverse_of_odd(Bits odd) {
  Bits inverse = odd;  // three bits
  for (int bits = 3; bits < 8 * static_cast<int>(sizeof(Bits)); bits *= 2)
    inverse *= 2 - odd * inverse;
  return inverse;
}

/// Spreads every bit of x over all of its bits; a bijection.
///
/// Source: Chris Wellons, "Prospecting for hash functions", 2018 (xor-shift, multiply, twice);
///   TheIronBorn's multipliers of 32 bits; Jon Maiga, "The construct of a bit mixer", 2020, for the
///   multiplier of 64 bits.
template <class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits mixed(Bits x) {
  constexpr int half = 4 * sizeof(Bits);
  x ^= x >> half;
  x *= mixing<Bits>::first;
  x ^= x >> half;
  x *= mixing<Bits>::second;
  return x ^ x >> half;
}
/// Returns the bits that `mixed` turns into x.
template <class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits unmixed(Bits x) {
  constexpr int half = 4 * sizeof(Bits);
  x ^= x >> half;
  x *= inverse_of_odd(mixing<Bits>::second);
  x ^= x >> half;
  x *= inverse_of_odd(mixing<Bits>::first);
  return x ^ x >> half;
}

/// Returns whether multiples i * q modulo 2^32 are spread evenly for i in any range: no partial
/// quotient of q / 2^32 is large.
///
/// Source: Niederreiter, "Random Number Generation and Quasi-Monte Carlo Methods", 1992, theorem
///   3.4.
constexpr bool has_even_multiples(std::uint32_t q) {
  std::uint64_t a = std::uint64_t(1) << 32, b = q;
  while (b != 0) {
    if (a / b > 12) return false;
    std::uint64_t const rest = a % b;
    a = b;
    b = rest;
  }
  return true;
}
/// Returns the odd number that mixed keys are multiplied by, for a split into `partitions`
/// partitions in round `round`. Other splits have other numbers: groups are written partition by
/// partition, and would crowd in some partitions of the next reduction. Few bits of a 32-bit key do
/// not choose the partition. So the number is one for which the keys of a partition spread evenly
/// over the slots of by_low_bits.
constexpr std::uint64_t partition_multiplier(std::uint64_t partitions, std::uint64_t round) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    std::uint64_t const m =
        place_multiplier(hashed::reduce_by_key, partitions + (round << 32) + (attempt << 48));
    if (has_even_multiples(golden_ratio * inverse_of_odd(static_cast<std::uint32_t>(m)))) return m;
  }
}

/// Maps a mixed key to its partition.
struct partition_of_bits {
  std::uint32_t partitions;
  std::uint64_t multiplier;

  partition_of_bits(std::uint64_t n, std::uint64_t round)
      : partitions(static_cast<std::uint32_t>(n)),
        multiplier(partition_multiplier(n, round)) {}
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Bits mixed_key) const {
    return by_high_bits(static_cast<Bits>(mixed_key * static_cast<Bits>(multiplier)), partitions);
  }
};

}  // namespace karpos::detail::reduce_by_key
