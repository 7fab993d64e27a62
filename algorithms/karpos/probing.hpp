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
// A path visits `probe_limit` distinct buckets (twice as many buckets of two slots, four times as
// many of one), or all of them in smaller tables. No operation probes further. With a hash that
// mixes well and double_hashing, a given key is refused at a load below 0.98 (the highest
// options.load) with a probability of about 10^-20 (simulated, buckets of four slots).

namespace karpos {

namespace detail {

/// Returns the smallest prime that is at least n. Trial division: takes microseconds for the sizes
/// of tables that fit in memory.
constexpr std::uint64_t next_prime(std::uint64_t n) {
  if (n <= 2) return 2;
  for (n |= 1;; n += 2) {
    bool prime = true;
    for (std::uint64_t d = 3; prime && d * d <= n; d += 2) prime = n % d != 0;
    if (prime) return n;
  }
}

}  // namespace detail

/// Probing in which the next pair follows the last one. Short strides for caches, long clusters at
/// high load.
struct linear_probing {
  static constexpr std::uint32_t probe_limit = 1 << 16;
  static constexpr std::uint64_t pair_count_for(std::uint64_t at_least) {
    return at_least < 1 ? 1 : at_least;
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t stride(std::uint64_t /*hash*/,
                                                        std::uint64_t /*pairs*/) {
    return 1;
  }
};

/// Probing in which a second hash of the key gives the stride between pairs: no clusters. The
/// number of pairs is a prime, so every stride visits every pair.
///
/// Source: Donald Knuth, The Art of Computer Programming 3, section 6.4, algorithm D.
struct double_hashing {
  static constexpr std::uint32_t probe_limit = 1 << 10;
  static constexpr std::uint64_t pair_count_for(std::uint64_t at_least) {
    return at_least <= 1 ? 1 : detail::next_prime(at_least);
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t stride(std::uint64_t hash, std::uint64_t pairs) {
    // The stride comes mostly from the low half of the hash: the halves change places. The home
    // bucket depends on that half, too, but through a multiplier that each table size and seed has
    // for itself.
    return 1 + multiply_high(hash << 32 | hash >> 32, pairs - 1);
  }
};

namespace detail {

/// The probe path of a key: the buckets in which it may be stored, in the order of the probe
/// sequence.
template <class Probing>
class probe_path {
 public:
  probe_path() = default;
  /// Makes the path of a hash in a table in which `home` maps hashes to buckets.
  KOKKOS_FUNCTION constexpr probe_path(std::uint64_t hash, place_among const& home)
      : probe_path(hash, home(hash), 1) {}
  /// Makes a path that consists of one bucket: the hash is not known.
  KOKKOS_FUNCTION static constexpr probe_path at_home(std::uint64_t bucket) {
    return {0, bucket, 1};
  }

  KOKKOS_FUNCTION constexpr std::uint64_t hash() const { return m_hash; }
  KOKKOS_FUNCTION constexpr std::uint64_t bucket() const { return m_bucket; }
  KOKKOS_FUNCTION constexpr std::uint64_t pair() const { return m_bucket / 2; }
  /// Returns the number of buckets on the path so far, this one included.
  KOKKOS_FUNCTION constexpr std::uint32_t tried() const { return m_tried; }

  KOKKOS_FUNCTION constexpr void advance(std::uint64_t pairs) {
    if (m_tried % 2 == 1) {
      m_bucket ^= 1;
    } else {
      std::uint64_t const sum = pair() + Probing::stride(m_hash, pairs);
      m_bucket = 2 * (sum < pairs ? sum : sum - pairs) + (m_bucket & 1);
    }
    ++m_tried;
  }

 private:
  KOKKOS_FUNCTION constexpr probe_path(std::uint64_t hash, std::uint64_t bucket,
                                       std::uint32_t tried)
      : m_hash(hash),
        m_bucket(bucket),
        m_tried(tried) {}

  std::uint64_t m_hash, m_bucket;
  std::uint32_t m_tried;
};

}  // namespace detail
}  // namespace karpos
