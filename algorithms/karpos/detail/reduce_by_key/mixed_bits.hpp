// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

// Keys as a reduction works on them: a bijection spreads every bit of a key over all of its bits once, when the key is
// loaded, and is undone when its group is written. In between, some bits of a key choose its part and others its slot, as
// they are.
//
//   key  --mixed-->  | part | ... |  slot of a table |  --unmixed-->  key

namespace karpos::detail::reduce_by_key {

/// Two rounds of an exclusive or with the high half and a multiplication, and the former once more, at the width of the
/// keys.
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

/// The inverse of an odd number modulo 2^(8 * sizeof(Bits)): each step of Newton's doubles the bits that are right.
template <class Bits>
KOKKOS_FUNCTION constexpr Bits inverse_of_odd(Bits odd) {
  Bits inverse = odd;  // three bits
  for (int bits = 3; bits < 8 * static_cast<int>(sizeof(Bits)); bits *= 2)
    inverse *= 2 - odd * inverse;
  return inverse;
}

/// Source: Chris Wellons, "Prospecting for hash functions", 2018 (xor-shift, multiply, twice); TheIronBorn's multipliers of
/// 32 bits; Jon Maiga, "The construct of a bit mixer", 2020, that of 64.
template <class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits mixed(Bits x) {
  constexpr int half = 4 * sizeof(Bits);
  x ^= x >> half;
  x *= mixing<Bits>::first;
  x ^= x >> half;
  x *= mixing<Bits>::second;
  return x ^ x >> half;
}
/// The bits that mixed makes x of.
template <class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits unmixed(Bits x) {
  constexpr int half = 4 * sizeof(Bits);
  x ^= x >> half;
  x *= inverse_of_odd(mixing<Bits>::second);
  x ^= x >> half;
  x *= inverse_of_odd(mixing<Bits>::first);
  return x ^ x >> half;
}

/// One of n, by the high bits.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_high_bits(std::uint32_t x, std::uint32_t n) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(x) * n >> 32);
}
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_high_bits(std::uint64_t x, std::uint32_t n) {
  return by_high_bits(static_cast<std::uint32_t>(x >> 32), n);
}
/// One of n, by the low bits: a multiplication brings them up, for 32 bits have few that choose no part.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_low_bits(std::uint32_t x, std::uint32_t n) {
  return by_high_bits(x * 0x9e3779b1u, n);
}
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_low_bits(std::uint64_t x, std::uint32_t n) {
  return by_high_bits(static_cast<std::uint32_t>(x), n);
}

}  // namespace karpos::detail::reduce_by_key
