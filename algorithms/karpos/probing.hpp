// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/hash.hpp"

// Probe sequences over the buckets of an open-addressing table. Buckets form pairs of neighbours. A
// search tries the bucket that the key's hash selects, then that bucket's neighbour, then another
// pair. The neighbour is nearly free: memory moves 64 bytes when a 32-byte bucket is read (H200:
// the neighbour is then in the L2 cache), and CPUs prefetch cache lines in pairs. 2^27 keys at load
// 0.95, hits: 25.8 G/s in pairs, 23.7 without.
//
// A path visits `probe_limit` buckets (twice as many buckets of two slots, four times as many of
// one), or all of them in smaller tables; in large ones it may come to its first pair a second
// time. No operation probes further. With a hash that mixes well and double_hashing, a given key is
// refused at a load below 0.98 (the highest options.load) with a probability of about 10^-20
// (simulated, buckets of four slots).

namespace karpos {

namespace detail {

/// Returns the smallest prime that is at least n, by trial division: under a millisecond for any
/// table.
constexpr std::uint64_t next_prime(std::uint64_t n) {
  if (n <= 2) return 2;
  for (n |= 1;; n += 2) {
    bool prime = true;
    for (std::uint64_t d = 3; prime && d * d <= n; d += 2) prime = n % d != 0;
    if (prime) return n;
  }
}

}  // namespace detail

/// Linear probing: goes on to the next pair of buckets in memory. Suits caches, but forms long
/// clusters at high load.
struct linear_probing {
  static constexpr std::uint32_t probe_limit = 1 << 16;
  static constexpr std::uint64_t pair_count_for(std::uint64_t at_least) {
    return at_least < 1 ? 1 : at_least;
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t stride(std::uint64_t /*hash*/,
                                                        std::uint64_t /*pairs*/, bool /*first*/) {
    return 1;
  }
};

/// Probing in which a second hash of the key gives the stride between pairs: no clusters. The
/// number of pairs is a prime, so every stride visits every pair. (In tables of more than 2^15
/// pairs the first stride differs from the later ones, and a path that goes on for as many pairs as
/// there are misses one. Paths of hash_map end long before that.)
///
/// Source: Donald Knuth, The Art of Computer Programming 3, section 6.4, algorithm D.
struct double_hashing {
  static constexpr std::uint32_t probe_limit = 1 << 10;
  static constexpr std::uint64_t pair_count_for(std::uint64_t at_least) {
    return at_least <= 1 ? 1 : detail::next_prime(at_least);
  }
  /// Returns the distance of the next pair. `first`: from the first pair of a path to the second.
  /// That is at most 2^15, so that the second pair lies in the part of the table that bulk lookups
  /// hold in the cache (docs/hash_map.md). Later strides span the whole table. If all were short, a
  /// crowded part of the table would refuse keys, as where the first halves of two other tables in
  /// slot order go into one.
  KOKKOS_FUNCTION static constexpr std::uint64_t stride(std::uint64_t hash, std::uint64_t pairs,
                                                        bool first) {
    // The halves change places: the stride comes mostly from the low half of the hash. So does the
    // home bucket, but through a multiplier of each table size and seed.
    std::uint64_t const any = 1 + multiply_high(hash << 32 | hash >> 32, pairs - 1);
    constexpr std::uint64_t limit = 1 << 15;
    return first && pairs > limit ? any % limit | 1 : any;
  }
};

namespace detail {

/// Double hashing for tables whose paths may be as long as the table: all strides span it, so that
/// a path visits every pair once.
struct double_hashing_of_whole_paths : double_hashing {
  KOKKOS_FUNCTION static constexpr std::uint64_t stride(std::uint64_t hash, std::uint64_t pairs,
                                                        bool /*first*/) {
    return double_hashing::stride(hash, pairs, false);
  }
};

}  // namespace detail

}  // namespace karpos
