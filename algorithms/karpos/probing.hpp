// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/hash.hpp"

// Probe sequences over the buckets of an open-addressing table. Buckets form pairs of neighbours. A
// search tries the bucket that the key's hash selects, then that bucket's neighbour, then another
// pair. The neighbour is nearly free: memory moves 64 bytes when a 32-byte bucket is read (H200:
// the neighbour is then in the L2 cache), and CPUs prefetch cache lines in pairs. An H200 finds
// 25.8 * 10^9 keys a second in pairs, 23.7 without (2^27 keys at load 0.95).
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
                                                        std::uint64_t /*pairs*/) {
    return 1;
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t next(std::uint64_t /*hash*/, std::uint64_t pair,
                                                      std::uint64_t pairs, std::uint32_t /*n*/) {
    return pair + 1 < pairs ? pair + 1 : 0;
  }
};

/// Probing in which a second hash of the key gives the stride between pairs: no clusters. The
/// number of pairs is a prime, so every stride visits every pair.
///
/// In tables of more than 2^15 pairs the second pair of a path lies in the same aligned group of
/// 256 pairs as the first, and the third in the same aligned group of 2^15 (next()). A path of as
/// many pairs as the table has then misses some. Paths of hash_map are far shorter.
///
/// Source: Donald Knuth, The Art of Computer Programming 3, section 6.4, algorithm D.
struct double_hashing {
  static constexpr std::uint32_t probe_limit = 1 << 10;
  static constexpr std::uint64_t pair_count_for(std::uint64_t at_least) {
    return at_least <= 1 ? 1 : detail::next_prime(at_least);
  }
  /// Two pairs are near each other if their numbers, divided by this power of two, are equal. Keys
  /// that find their first two pairs full (simulated, buckets of four slots, load 0.8, 0.9, 0.95):
  /// 2.33, 4.92, 6.68 % with 64 near pairs; 2.30, 4.88, 6.64 % with 256; 2.30, 4.87, 6.63 % if the
  /// second pair lies anywhere.
  static constexpr std::uint64_t near_pairs = 256;

  /// Returns the distance from one pair of a path to the next, from the third pair on.
  KOKKOS_FUNCTION static constexpr std::uint64_t stride(std::uint64_t hash, std::uint64_t pairs) {
    // The halves change places: the stride comes mostly from the low half of the hash. The home
    // bucket depends on that half, too, but by a multiplier that differs by table size and seed.
    return 1 + multiply_high(hash << 32 | hash >> 32, pairs - 1);
  }
  /// Returns the pair n + 1 of a path whose pair n, counted from 1, is `pair`. In tables of more
  /// than 2^15 pairs:
  ///  - The second pair is near the first, so that a team that builds a part of the table has both
  ///    in its scratch.
  ///  - The third pair lies in the same aligned group of 2^15 pairs as the second. Bulk lookups
  ///    hold such a group in the cache (docs/hash_map.md).
  ///  - Later ones lie anywhere. If all strides were short, a crowded part of the table would
  ///    refuse keys, as when the first halves of two other tables in slot order go into one.
  /// The table's last group of 256 (2^15) pairs may be incomplete: paths go on from its end to the
  /// first pairs of the table.
  KOKKOS_FUNCTION static constexpr std::uint64_t next(std::uint64_t hash, std::uint64_t pair,
                                                      std::uint64_t pairs, std::uint32_t n) {
    // One formula for the second pair and the third keeps lookups on GPUs at 32 registers.
    std::uint64_t const any = stride(hash, pairs);
    std::uint32_t const limit = 1 << 15, low = n == 1 ? near_pairs - 1 : limit - 1;
    std::uint64_t const near = (pair & ~std::uint64_t(low)) | ((pair + (any | 1)) & low),
                        sum = n <= 2 && pairs > limit ? near : pair + any;
    return sum < pairs ? sum : sum - pairs;
  }
};

namespace detail {

/// Double hashing for tables whose paths may be as long as the table: a path has one stride, so
/// that it visits every pair once.
struct double_hashing_of_whole_paths : double_hashing {
  KOKKOS_FUNCTION static constexpr std::uint64_t next(std::uint64_t hash, std::uint64_t pair,
                                                      std::uint64_t pairs, std::uint32_t /*n*/) {
    return double_hashing::next(hash, pair, pairs, 3);
  }
};

}  // namespace detail

}  // namespace karpos
