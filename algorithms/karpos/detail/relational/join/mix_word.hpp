// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/hash.hpp"

namespace karpos::detail::join {

/// Spreads every bit of x over all of its bits, as mix (hash.hpp) does for 64 bits; a bijection.
///
/// Source: Chris Wellons, "Prospecting for hash functions", 2018, for the form; its search found
///   the constants later.
KOKKOS_FUNCTION constexpr std::uint32_t mix_word(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x21f0aaadU;
  x ^= x >> 15;
  x *= 0x735a2d97U;
  x ^= x >> 15;
  return x;
}
KOKKOS_FUNCTION constexpr std::uint64_t mix_word(std::uint64_t x) { return mix(x); }

}  // namespace karpos::detail::join
