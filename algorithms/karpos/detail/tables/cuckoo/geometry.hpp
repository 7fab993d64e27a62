// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cmath>
#include <cstdint>

#include "karpos/hash.hpp"

// The slots that may hold a key, in both layouts (drawn in run.hpp). Slots are read in lines of
// 64 bytes, which is what memory moves.

namespace karpos::detail::cuckoo {

template <class Word>
inline constexpr int line_slots = 64 / static_cast<int>(sizeof(Word));

/// Maps 32 mixed bits onto [0, n).
KOKKOS_FUNCTION constexpr std::uint32_t scale(std::uint32_t bits, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(bits) * n) >> 32);
}

/// Returns the i-th of a family of hashes of one key, made of its hash.
KOKKOS_FUNCTION constexpr std::uint64_t rehashed(std::uint64_t hash, std::uint32_t i) {
  return mix(hash + i * 0x9e37'79b9'7f4a'7c15u);
}

/// The two-level layout: a bucket has three subtables of 192 slots, and a key has one candidate
/// slot in each of them.
///
///   line 0: half a line of subtable 1, half a line of subtable 2 | line 1 … | subtable 3
///
/// A key's slots in subtables 1 and 2 share a line, so that three lookups in four read one line; in
/// the paper all three slots are independent. The price: 19 rounds on average instead of 16 (409
/// keys). The paper gives up a bucket of more than 512 keys, which one table in seven of 2^27 keys
/// has; a limit of 520 makes it one in 45.
template <class Word>
struct bucket_geometry {
  static constexpr std::uint32_t subtables = 3, subtable_slots = 192;
  static constexpr std::uint32_t slots = subtables * subtable_slots;
  static constexpr std::uint32_t mean_keys = 409, max_keys = 520;
  static constexpr std::uint32_t line = line_slots<Word>, half_line = line / 2;
  static constexpr std::uint32_t lines = subtable_slots / half_line;

  /// Returns the bits that the candidate slots of a key are taken from: its hash with the constants
  /// of its bucket, which are the number of the attempt that succeeded.
  KOKKOS_FUNCTION static constexpr std::uint64_t places(std::uint64_t hash, std::uint32_t attempt) {
    return rehashed(hash, attempt + 1);
  }
  /// Returns the first slot of the line that holds the candidates in subtables 1 and 2.
  KOKKOS_FUNCTION static constexpr std::uint32_t line_of(std::uint64_t places) {
    return scale(static_cast<std::uint32_t>(places), lines) * line;
  }
  /// Returns the candidate in a subtable, as a slot of the bucket.
  KOKKOS_FUNCTION static constexpr std::uint32_t slot_of(std::uint64_t places, int subtable) {
    if (subtable == 2)
      return 2 * subtable_slots + scale(static_cast<std::uint32_t>(places >> 32), subtable_slots);
    auto const in_half = static_cast<std::uint32_t>(subtable == 0 ? places : places / half_line);
    return line_of(places) + static_cast<std::uint32_t>(subtable) * half_line + in_half % half_line;
  }

  /// Returns the number of buckets for n keys: n / 409, more from about 2^31 keys on, so that the
  /// probability that a bucket of the table gets more than 520 keys stays below 1/4 (a Poisson
  /// tail; see docs/cuckoo_map.md).
  static std::uint64_t count_for(std::uint64_t n) {
    double const limit = max_keys + 1, pi = 3.141592653589793;
    for (double mean = mean_keys;; --mean) {
      double const buckets = std::ceil(static_cast<double>(n) / mean);
      double const log_tail = limit * (1 + std::log(mean / limit)) - mean -
                              std::log(std::sqrt(2 * pi * limit) * (1 - mean / limit));
      if (buckets * std::exp(log_tail) < 0.25)
        return buckets < 1 ? 1 : static_cast<std::uint64_t>(buckets);
    }
  }
};

/// The dense layout: windows of one line. All candidate windows of a key lie in one partition, a
/// group of windows small enough for a cache: keys are inserted partition by partition.
template <class Word>
struct partition_geometry {
  static constexpr int window_slots = line_slots<Word>;
  /// Candidate windows of a key. With two windows of eight slots arrangements exist up to a load of
  /// 0.998, but eviction chains grow too long: 2^27 keys at 0.98 were not placed in 500 evictions.
  static constexpr int choices = 3;
  /// Windows of a partition: as many as a GPU's shared memory holds, 192 KiB, or up to 2^17 slots
  /// for a cache.
  static constexpr std::uint64_t small_windows = 3072,
                                 large_windows = (std::uint64_t(1) << 17) / window_slots;

  /// Returns the most windows of a partition: small_windows for words of eight bytes, unless the
  /// load is so high that some partition of a large table would have more keys than can be placed.
  /// A partition with five and a half standard deviations more keys than the mean must leave one
  /// slot in a hundred empty.
  static std::uint64_t max_windows(double load) {
    double const slots = static_cast<double>(small_windows) * window_slots, mean = load * slots;
    bool const fits = mean + 5.5 * std::sqrt(mean) <= 0.99 * slots;
    return sizeof(Word) == 8 && fits ? small_windows : large_windows;
  }

  KOKKOS_FUNCTION static constexpr std::uint64_t places(std::uint64_t hash) {
    return rehashed(hash, 0);
  }
  /// Returns a candidate of a key, as a window of the partition.
  KOKKOS_FUNCTION static constexpr std::uint32_t window_of(std::uint64_t places, int choice,
                                                           std::uint32_t windows) {
    std::uint64_t const bits = choice == 0   ? places
                               : choice == 1 ? places >> 32
                                             : (places * 0x9e37'79b9'7f4a'7c15u) >> 32;
    return scale(static_cast<std::uint32_t>(bits), windows);
  }
  /// Returns the overflow bit of a key. It is set in the byte of the key's first window if the key
  /// lies in another one.
  KOKKOS_FUNCTION static constexpr std::uint32_t overflow_bit(std::uint64_t places) {
    return 1u << (places & 7);
  }
};

}  // namespace karpos::detail::cuckoo
