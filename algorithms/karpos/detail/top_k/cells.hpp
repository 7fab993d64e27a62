// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/sorted_lists.hpp"

// What a query by weighted sums knows of an object, in one word: which lists it has been seen in, and the sum of what
// it got there. One addition updates both.
//
//   | sum, in whole units | lists seen, a bit each |
//
// A score adds floor(weight * (score - floor of the list) / unit): never negative, and never more than it is worth. So
// the sum is a lower bound, and no more than `margin` units below the truth for the lists seen. The unit is a power of
// two: as small as the word allows, but no smaller than what rounding does to the aggregate itself, in double.

namespace karpos::detail::top_k {

/// The sums of a cell in classes that are narrow where sums are small: 2^sub_bits to an octave. A class is known by its
/// smallest member, so that the k-th best of a histogram is a lower bound of the k-th best.
template <class Cell>
struct sum_classes {
  static constexpr int sub_bits = sizeof(Cell) == 4 ? 8 : 7;
  static constexpr std::uint64_t sub = std::uint64_t(1) << sub_bits;
  /// Bits of the largest sum.
  static constexpr int sum_bits = sizeof(Cell) == 4 ? 31 : 48;
  static constexpr int count = (sum_bits - sub_bits + 1) << sub_bits;

  KOKKOS_FUNCTION static std::uint32_t of(std::uint64_t sum) {
    if (sum >> sum_bits != 0) return count - 1;  // of lists that are not sorted
    if (sum < sub) return static_cast<std::uint32_t>(sum);
    int const shift = 63 - Kokkos::countl_zero(sum) - sub_bits;
    return (static_cast<std::uint32_t>(shift) << sub_bits) +
           static_cast<std::uint32_t>(sum >> shift);
  }
  KOKKOS_FUNCTION static std::uint64_t smallest(std::uint32_t c) {
    if (c < 2 * sub) return c;
    int const shift = static_cast<int>(c >> sub_bits) - 1;
    return ((c & (sub - 1)) + sub) << shift;
  }
};

/// What a score is worth above the floor. 0 where that is no number: infinite scores of weight 0.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t in_units(double score, double floor, double factor) {
  double const units = (score - floor) * factor;
  // By way of a signed integer, to which CPUs convert at once.
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(units > 0 ? units : 0));
}

/// How scores become units.
struct score_units {
  double floor[max_lists];   // the lowest score of a list, or the missing one
  double factor[max_lists];  // weight / unit
  std::uint64_t usable;      // 0: the scores are infinite

  KOKKOS_FUNCTION std::uint64_t of(int list, double score) const {
    return in_units(score, floor[list], factor[list]);
  }
};

/// Of what a list gives to objects not seen in it, at a depth, in units.
struct unseen_units {
  std::uint64_t least[max_lists];
  std::uint64_t most[max_lists];
};

/// Cells of n lists.
template <class Cell>
struct cell_layout {
  using classes = sum_classes<Cell>;
  int lists;

  KOKKOS_FUNCTION static constexpr int sum_bits(int n) {
    int const room = static_cast<int>(8 * sizeof(Cell)) - n;
    return room < classes::sum_bits ? room : classes::sum_bits;
  }
  KOKKOS_FUNCTION std::uint64_t sum(Cell c) const { return c >> lists; }
  KOKKOS_FUNCTION std::uint32_t seen(Cell c) const {
    return static_cast<std::uint32_t>(c & ((Cell(1) << lists) - 1));
  }
  KOKKOS_FUNCTION Cell addend(int list, std::uint64_t units) const {
    return static_cast<Cell>(static_cast<Cell>(units) << lists | Cell(1) << list);
  }
  /// Units by which the sum of an object seen everywhere may be too low, and then some for rounding.
  KOKKOS_FUNCTION std::uint64_t margin() const { return 2 * static_cast<std::uint64_t>(lists); }
};

}  // namespace karpos::detail::top_k
