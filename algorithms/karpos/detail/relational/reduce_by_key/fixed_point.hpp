// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/rows.hpp"

// Sums of floating-point numbers, in integers: the order of additions does not change them.

namespace karpos::detail::reduce_by_key {

/// Bits of a number in each of three words. Sums of 2^32 such words take 63 bits.
inline constexpr int word_bits = 30, bin_bits = 3 * word_bits;
/// The exponent of the lowest bit of any double.
inline constexpr int lowest_exponent = -1074;

__extension__ using wide_integer = __int128;
__extension__ using wide_bits = unsigned __int128;

/// |x| = mantissa * 2^exponent, for finite x.
struct magnitude {
  std::uint64_t mantissa;
  int exponent;
};
KOKKOS_FORCEINLINE_FUNCTION bool is_finite(double x) { return x - x == 0; }
KOKKOS_FORCEINLINE_FUNCTION magnitude magnitude_of(double x) {
  auto const bits = Kokkos::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t hidden = std::uint64_t(1) << 52;
  auto const exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0) return {bits & (hidden - 1), lowest_exponent};
  return {(bits & (hidden - 1)) | hidden, exponent - 1 + lowest_exponent};
}

/// The bits of a number are those of 2^low to 2^(top - 1). Zeros and numbers that are not finite
/// have none.
struct bit_range {
  int low, top;
};
KOKKOS_FORCEINLINE_FUNCTION bit_range exponent_range(double x) {
  if (x == 0 || !is_finite(x))
    return {Kokkos::Experimental::finite_max_v<int>, Kokkos::Experimental::finite_min_v<int>};
  magnitude const m = magnitude_of(x);
  return {m.exponent + Kokkos::countr_zero(m.mantissa),
          m.exponent + 64 - Kokkos::countl_zero(m.mantissa)};
}

/// Sums of the high, middle and low words of numbers, and flags of numbers that are not finite.
using fixed_sum = pack<std::int64_t, std::int64_t, std::int64_t, std::uint32_t>;
inline constexpr std::uint32_t positive_infinity = 1, negative_infinity = 2, not_a_number = 4;

struct bit_or {
  KOKKOS_FUNCTION constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a | b;
  }
};

/// Returns x in multiples of 2^low, without lower bits. Requires: |x| < 2^(low + bin_bits).
KOKKOS_FORCEINLINE_FUNCTION fixed_sum fixed_point(double x, int low) {
  if (!is_finite(x))
    return {{0}, {0}, {0}, {x > 0 ? positive_infinity : x < 0 ? negative_infinity : not_a_number}};
  magnitude const m = magnitude_of(x);
  int const shift = m.exponent - low;
  wide_bits const f = m.mantissa == 0 ? 0
                      : shift >= 0    ? static_cast<wide_bits>(m.mantissa) << shift
                      : shift > -64   ? m.mantissa >> -shift
                                      : 0;
  constexpr std::int64_t mask = (std::int64_t(1) << word_bits) - 1;
  std::int64_t const sign = x < 0 ? -1 : 1;
  return {{sign * static_cast<std::int64_t>(f >> (2 * word_bits))},
          {sign * (static_cast<std::int64_t>(f >> word_bits) & mask)},
          {sign * (static_cast<std::int64_t>(f) & mask)},
          {0}};
}

/// Returns x * 2^exponent, for an exponent of lowest_exponent or more. Multiplies by two factors,
/// neither of which is too small for a double.
KOKKOS_FORCEINLINE_FUNCTION double scaled(double x, int exponent) {
  auto const power = [](int e) {
    return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  };
  int const half = exponent / 2;
  return x * power(half) * power(exponent - half);
}

/// Returns the number nearest to a sum in multiples of 2^low; of two, the one whose last bit is 0.
template <class T>
KOKKOS_FUNCTION T rounded(fixed_sum const& sum, int low) {
  std::uint32_t const flags = get<3>(sum);
  if (flags != 0) {
    T const infinity = Kokkos::Experimental::infinity_v<T>;
    if (flags == positive_infinity) return infinity;
    return flags == negative_infinity ? -infinity : Kokkos::Experimental::quiet_NaN_v<T>;
  }
  constexpr wide_integer unit = wide_integer(1) << word_bits;
  wide_integer const total = (get<0>(sum) * unit + get<1>(sum)) * unit + get<2>(sum);
  auto m = static_cast<wide_bits>(total < 0 ? -total : total);
  bool rest = false;  // whether a bit was left out
  int exponent = low;
  for (; m >> 64 != 0; m >>= 1, ++exponent) rest |= (m & 1) != 0;
  auto const r = static_cast<T>(static_cast<std::uint64_t>(m) | (rest ? 1 : 0));
  return static_cast<T>(scaled(static_cast<double>(total < 0 ? -r : r), exponent));
}

}  // namespace karpos::detail::reduce_by_key
