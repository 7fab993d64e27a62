// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/sorted_lists.hpp"

// The accumulator of an object: its partial sum and the set of lists in which it was seen. Both are
// packed into one word, so that one atomic addition updates both.
//
//   | partial sum, in fixed point | lists seen, a bit each |
//
// A score adds floor(weight * (score - floor of the list) / unit), which is never negative and
// never more than the exact contribution. So the partial sum is a lower bound, at most `margin`
// units below the exact sum over the lists seen. The unit is a power of two: as small as the word
// allows, but no smaller than the rounding error of the aggregate in double.

namespace karpos::detail::top_k {

/// Buckets of a histogram of partial sums: log-linear, 2^sub_bits buckets an octave. A bucket is
/// identified by its lower edge, so the bucket of the k-th largest sum gives a lower bound of that
/// sum.
struct sum_buckets {
  int sub_bits;
  int sum_bits;  // bits of the largest sum

  KOKKOS_FUNCTION constexpr int count() const { return (sum_bits - sub_bits + 1) << sub_bits; }
  KOKKOS_FUNCTION std::uint32_t of(std::uint64_t sum) const {
    if (sum >> sum_bits != 0)
      return static_cast<std::uint32_t>(count() - 1);  // possible if lists are not sorted
    if (sum >> sub_bits == 0) return static_cast<std::uint32_t>(sum);
    int const shift = 63 - Kokkos::Experimental::countl_zero_builtin(sum) - sub_bits;
    return (static_cast<std::uint32_t>(shift) << sub_bits) +
           static_cast<std::uint32_t>(sum >> shift);
  }
  KOKKOS_FUNCTION std::uint64_t lower_edge(std::uint32_t bucket) const {
    std::uint64_t const sub = std::uint64_t(1) << sub_bits;
    if (bucket < 2 * sub) return bucket;
    int const shift = static_cast<int>(bucket >> sub_bits) - 1;
    return ((bucket & (sub - 1)) + sub) << shift;
  }
};
/// Returns the buckets of sums in accumulators of type Word.
template <class Word>
KOKKOS_FUNCTION constexpr sum_buckets buckets_of() {
  return sizeof(Word) == 4 ? sum_buckets{8, 31} : sum_buckets{7, 48};
}

/// Returns a score in fixed point, above the list's floor; 0 if that is not a number, as for
/// infinite scores of weight 0.
KARPOS_STEP_FUNCTION std::uint64_t in_units(double score, double floor, double factor) {
  double const units = (score - floor) * factor;
  // Through a signed integer, to which CPUs convert in one instruction.
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(units > 0 ? units : 0));
}

/// The fixed-point scale of each list.
struct fixed_point {
  double floor[max_lists];   // lowest score of a list, or the missing score
  double factor[max_lists];  // weight / unit
  std::uint64_t usable;      // 0: the scores are infinite

  KOKKOS_FUNCTION std::uint64_t of(int list, double score) const {
    return in_units(score, floor[list], factor[list]);
  }
};

/// Bounds of each list's contribution to an object not seen in it, at a depth, in units.
struct unseen_bounds {
  std::uint64_t lower[max_lists];
  std::uint64_t upper[max_lists];
};

/// Packs and unpacks accumulators over n lists.
template <class Word>
struct accumulator_layout {
  int lists;

  /// Returns the number of bits of a partial sum.
  KOKKOS_FUNCTION static constexpr int sum_bits(int n) {
    int const bits_left = static_cast<int>(8 * sizeof(Word)) - n;
    return Kokkos::min(bits_left, buckets_of<Word>().sum_bits);
  }
  KOKKOS_FUNCTION std::uint64_t sum(Word w) const { return w >> lists; }
  KOKKOS_FUNCTION std::uint32_t seen(Word w) const {
    return static_cast<std::uint32_t>(w & ((Word(1) << lists) - 1));
  }
  /// Returns the word that an entry of a list adds to its object's accumulator.
  KOKKOS_FUNCTION Word addend(int list, std::uint64_t units) const {
    return static_cast<Word>(static_cast<Word>(units) << lists | Word(1) << list);
  }
};

/// The accumulators of all objects, for steps other than `accumulate`.
template <class Word>
struct accumulator_array {
  using word = Word;
  Word* words;

  KOKKOS_FUNCTION static constexpr sum_buckets buckets() { return buckets_of<Word>(); }
  KOKKOS_FUNCTION word operator[](std::uint64_t slot) const { return words[slot]; }
  KOKKOS_FUNCTION void set(std::uint64_t slot, word w) const {
    device::store_relaxed(words + slot, w);
  }
  KOKKOS_FUNCTION void add(std::uint64_t slot, word w) const { device::add(words + slot, w); }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::uint64_t slot) const {
    device::prefetch(words + slot);
  }
  template <class F>
  KOKKOS_FUNCTION void with_type(F const& f) const {
    f(words);
  }
};

/// Accumulators of either type: CPUs compile the steps that use it once for both.
struct any_accumulators {
  using word = std::uint64_t;
  std::uint32_t* small;  // null: `large` is used
  std::uint64_t* large;

  KOKKOS_FUNCTION sum_buckets buckets() const {
    return small != nullptr ? buckets_of<std::uint32_t>() : buckets_of<std::uint64_t>();
  }
  KOKKOS_FUNCTION word operator[](std::uint64_t slot) const {
    return small != nullptr ? small[slot] : large[slot];
  }
  KOKKOS_FUNCTION void set(std::uint64_t slot, word w) const {
    if (small != nullptr)
      device::store_relaxed(small + slot, static_cast<std::uint32_t>(w));
    else
      device::store_relaxed(large + slot, w);
  }
  KOKKOS_FUNCTION void add(std::uint64_t slot, word w) const {
    if (small != nullptr)
      device::add(small + slot, static_cast<std::uint32_t>(w));
    else
      device::add(large + slot, w);
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::uint64_t slot) const {
    if (small != nullptr)
      device::prefetch(small + slot);
    else
      device::prefetch(large + slot);
  }
  template <class F>
  KOKKOS_FUNCTION void with_type(F const& f) const {
    if (small != nullptr)
      f(small);
    else
      f(large);
  }
};

/// Returns the units by which a sum over n lists may be too low: one for each list, and n for
/// rounding.
KOKKOS_INLINE_FUNCTION std::uint64_t margin_of(int n) { return 2 * static_cast<std::uint64_t>(n); }

}  // namespace karpos::detail::top_k
