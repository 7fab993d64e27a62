// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cmath>
#include <cstdint>

#include "karpos/hash.hpp"

// Where keys may lie. Both layouts divide the slots into groups (buckets, districts) by the high bits of a key's hash,
// and read slots in lines of 64 bytes, which is what memory moves.

namespace karpos::detail::cuckoo {

template <class Word>
inline constexpr int line_slots = 64 / static_cast<int>(sizeof(Word));

/// Maps 32 mixed bits onto [0, n).
KOKKOS_FUNCTION constexpr std::uint32_t scale(std::uint32_t bits, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(bits) * n) >> 32);
}

/// Another hash of the same key, for each of its numbers.
KOKKOS_FUNCTION constexpr std::uint64_t rehashed(std::uint64_t hash, std::uint32_t number) {
  return mix(hash + number * 0x9e37'79b9'7f4a'7c15u);
}

/// The two-level layout: buckets of three subtables of 192 slots, each key in one slot of one of them.
///
///   line 0: half a line of subtable 1, half a line of subtable 2 | line 1 … | subtable 3
///
/// The places of a key in the first two subtables share a line: three lookups in four end with the first. In the
/// paper the three are independent. Here a bucket wants a few rounds more (409 keys: 19 instead of 16). The paper gives
/// up a bucket of more than 512 keys, which one table in seven of 2^27 keys has; with eight more it is one in 45.
template <class Word>
struct bucket_geometry {
  static constexpr std::uint32_t subtables = 3, subtable_slots = 192;
  static constexpr std::uint32_t slots = subtables * subtable_slots;
  static constexpr std::uint32_t mean_keys = 409, max_keys = 520;
  static constexpr std::uint32_t line = line_slots<Word>, half_line = line / 2;
  static constexpr std::uint32_t lines = subtable_slots / half_line;

  /// What the constants of a bucket make of a hash. The constants are the number of the attempt that succeeded.
  KOKKOS_FUNCTION static constexpr std::uint64_t places(std::uint64_t hash, std::uint32_t attempt) {
    return rehashed(hash, attempt + 1);
  }
  /// First slot of the line that holds the places in the first two subtables.
  KOKKOS_FUNCTION static constexpr std::uint32_t line_of(std::uint64_t places) {
    return scale(static_cast<std::uint32_t>(places), lines) * line;
  }
  /// Slot of the bucket that is the place in a subtable.
  KOKKOS_FUNCTION static constexpr std::uint32_t slot_of(std::uint64_t places, int subtable) {
    if (subtable == 2)
      return 2 * subtable_slots + scale(static_cast<std::uint32_t>(places >> 32), subtable_slots);
    auto const in_half = static_cast<std::uint32_t>(subtable == 0 ? places : places / half_line);
    return line_of(places) + static_cast<std::uint32_t>(subtable) * half_line + in_half % half_line;
  }

  /// Buckets for n keys. Few more than n / 409, so many that hardly one in four tables has a bucket of more than 520:
  /// from about 2^31 keys on the mean falls.
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

/// The dense layout: windows of one line. The windows that may hold a key lie in one district, so small that a cache
/// holds it: keys are inserted district by district.
template <class Word>
struct district_geometry {
  static constexpr int window_slots = line_slots<Word>;
  /// Windows that may hold a key. Two of eight slots have room for a load of 0.998, but hardly a way there: 2^27 keys at
  /// 0.98 found no place in 500 moves.
  static constexpr int choices = 3;
  static constexpr std::uint64_t max_windows = (std::uint64_t(1) << 17) / window_slots;

  KOKKOS_FUNCTION static constexpr std::uint64_t places(std::uint64_t hash) {
    return rehashed(hash, 0);
  }
  /// Window of the district that is a key's choice.
  KOKKOS_FUNCTION static constexpr std::uint32_t window_of(std::uint64_t places, int choice,
                                                           std::uint32_t windows) {
    std::uint64_t const bits = choice == 0   ? places
                               : choice == 1 ? places >> 32
                                             : (places * 0x9e37'79b9'7f4a'7c15u) >> 32;
    return scale(static_cast<std::uint32_t>(bits), windows);
  }
  /// The bit of a window's marks that stands for a key which is not in its first choice.
  KOKKOS_FUNCTION static constexpr std::uint32_t mark_of(std::uint64_t places) {
    return 1u << (places & 7);
  }
};

}  // namespace karpos::detail::cuckoo
