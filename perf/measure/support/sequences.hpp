// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// Random keys and queries, computed where they are used: every element of a sequence is a function
// of its position.

namespace karpos::perf {

/// Maps 32-bit or 64-bit words to words bijectively. These functions differ from the library's
/// hash.
/// Source: Austin Appleby, MurmurHash3's finalizers.
KOKKOS_FUNCTION constexpr std::uint32_t scramble(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}
KOKKOS_FUNCTION constexpr std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/// Distinct random keys: the i-th for each i < limit. The three largest values are skipped, since
/// the library uses them as sentinels. scramble is a permutation, so repeating it until the key is
/// allowed is one as well (cycle walking).
template <class Key>
struct key_sequence {
  static_assert(std::is_unsigned_v<Key>);
  static constexpr Key limit = std::numeric_limits<Key>::max() - 2;
  std::uint64_t seed;

  KOKKOS_FUNCTION Key operator()(std::uint64_t i) const {
    Key const salt = static_cast<Key>(scramble(seed));
    Key key = static_cast<Key>(i);
    do key = scramble(static_cast<Key>(key ^ salt));
    while (key >= limit);
    return key;
  }
};

/// Maps a number that is uniform in [0, 1) to a rank below n: rank k has a probability of about
/// (k + shift)^-exponent, times a constant. The distribution is that of real-valued ranks, rounded
/// down. With exponent 0 all ranks are equally likely.
struct rank_sequence {
  std::uint64_t n;
  double exponent, shift;
  double first, span;  ///< of (rank + shift)^(1 - exponent): its least value, and its range

  static rank_sequence of(std::uint64_t n, double exponent, double shift = 1) {
    double const e = 1 - exponent, last = static_cast<double>(n) - 1 + shift;
    double const first = e == 0 ? shift : std::pow(shift, e);
    return {n, exponent, shift, first, e == 0 ? last / shift : std::pow(last, e) - first};
  }
  /// Returns the probability of a rank.
  double probability(std::uint64_t rank) const {
    double const from = static_cast<double>(rank) + shift, e = 1 - exponent;
    if (exponent == 0) return 1 / static_cast<double>(n);
    return e == 0 ? std::log1p(1 / from) / std::log(span)
                  : (std::pow(from + 1, e) - std::pow(from, e)) / span;
  }
  KOKKOS_FUNCTION std::uint64_t operator()(double u) const {
    double const e = 1 - exponent;
    double const x = exponent == 0 ? u * static_cast<double>(n)
                     : e == 0      ? first * Kokkos::pow(span, u) - shift
                                   : Kokkos::pow(first + u * span, 1 / e) - shift;
    auto const r = static_cast<std::uint64_t>(x < 0 ? 0 : x);
    return r < n ? r : n - 1;
  }
};

/// A random permutation of [0, n): a permutation of the next power of two, repeated until the
/// result is in the range (cycle walking).
struct permutation {
  std::uint64_t n;
  int bits;
  std::uint64_t seed;

  static permutation of(std::uint64_t n, std::uint64_t seed) {
    int bits = 2;
    while ((std::uint64_t(1) << bits) < n) ++bits;
    return {n, bits, seed};
  }
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const {
    std::uint64_t const mask = (std::uint64_t(1) << bits) - 1;
    int const shift = (bits + 1) / 2;
    do
      for (int round = 0; round < 3; ++round) {
        // The multiplier is odd, so this is a bijection of `bits` bits.
        i = (i * 0x9e3779b97f4a7c15ULL + (seed | 1)) & mask;
        i ^= i >> shift;
      }
    while (i >= n);
    return i;
  }
};

/// Chooses the key of the i-th query. If `missing` is 0, the queries ask for each of the n stored
/// keys once; otherwise a random fraction `missing` of them ask for absent keys instead.
struct query_sequence {
  permutation order;
  double missing;

  KOKKOS_FUNCTION bool absent(std::uint64_t i) const {
    double const coin = static_cast<double>(scramble(i + 0x5bd1e995u) >> 11) * 0x1p-53;
    return coin < missing;
  }
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t i) const {
    return absent(i) ? order.n + i : order(i);
  }
};

}  // namespace karpos::perf
