// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/sorted_lists.hpp"

// The accumulator of an object: partial sum and set of lists seen, packed into one word so that one atomic addition
// updates both.
//
//   | partial sum, in fixed point | lists seen, a bit each |
//
// A score adds floor(weight * (score - floor of the list) / unit), which is never negative and never more than the
// score is worth. So the partial sum is a lower bound, at most `margin` units below the exact sum over the lists seen.
// The unit is a power of two: as small as the word allows, but no smaller than the aggregate's rounding in double.

namespace karpos::detail::top_k {

/// Buckets of a histogram of partial sums: log-linear, 2^sub_bits to an octave. A bucket is known by its lower edge, so
/// that the bucket of the k-th largest sum is a lower bound of that sum.
template <class Word>
struct sum_buckets {
  static constexpr int sub_bits = sizeof(Word) == 4 ? 8 : 7;
  static constexpr std::uint64_t sub = std::uint64_t(1) << sub_bits;
  /// Bits of the largest sum.
  static constexpr int sum_bits = sizeof(Word) == 4 ? 31 : 48;
  static constexpr int count = (sum_bits - sub_bits + 1) << sub_bits;

  KOKKOS_FUNCTION static std::uint32_t of(std::uint64_t sum) {
    if (sum >> sum_bits != 0) return count - 1;  // of lists that are not sorted
    if (sum < sub) return static_cast<std::uint32_t>(sum);
    int const shift = 63 - Kokkos::countl_zero(sum) - sub_bits;
    return (static_cast<std::uint32_t>(shift) << sub_bits) +
           static_cast<std::uint32_t>(sum >> shift);
  }
  KOKKOS_FUNCTION static std::uint64_t lower_edge(std::uint32_t bucket) {
    if (bucket < 2 * sub) return bucket;
    int const shift = static_cast<int>(bucket >> sub_bits) - 1;
    return ((bucket & (sub - 1)) + sub) << shift;
  }
};

/// A score in fixed point, above the list's floor. 0 where that is no number: infinite scores of weight 0.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t in_units(double score, double floor, double factor) {
  double const units = (score - floor) * factor;
  // By way of a signed integer, to which CPUs convert in one instruction.
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(units > 0 ? units : 0));
}

/// The fixed-point scale of each list.
struct fixed_point {
  double floor[max_lists];   // the lowest score of a list, or the missing score
  double factor[max_lists];  // weight / unit
  std::uint64_t usable;      // 0: the scores are infinite

  KOKKOS_FUNCTION std::uint64_t of(int list, double score) const {
    return in_units(score, floor[list], factor[list]);
  }
};

/// Bounds of what each list contributes to an object not seen in it, at a depth, in units.
struct unseen_bounds {
  std::uint64_t lower[max_lists];
  std::uint64_t upper[max_lists];
};

/// Accumulators over n lists.
template <class Word>
struct accumulator_layout {
  int lists;

  /// Bits of a partial sum.
  KOKKOS_FUNCTION static constexpr int sum_bits(int n) {
    int const room = static_cast<int>(8 * sizeof(Word)) - n;
    return Kokkos::min(room, int(sum_buckets<Word>::sum_bits));
  }
  KOKKOS_FUNCTION std::uint64_t sum(Word w) const { return w >> lists; }
  KOKKOS_FUNCTION std::uint32_t seen(Word w) const {
    return static_cast<std::uint32_t>(w & ((Word(1) << lists) - 1));
  }
  /// What an entry of a list adds to its object's accumulator.
  KOKKOS_FUNCTION Word addend(int list, std::uint64_t units) const {
    return static_cast<Word>(static_cast<Word>(units) << lists | Word(1) << list);
  }
};

/// Units by which a sum over n lists may be too low: one for each list, and as many for rounding.
KOKKOS_INLINE_FUNCTION std::uint64_t margin_of(int n) { return 2 * static_cast<std::uint64_t>(n); }

}  // namespace karpos::detail::top_k
