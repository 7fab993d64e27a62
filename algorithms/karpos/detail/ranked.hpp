// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/arrays.hpp"
#include "karpos/detail/table_memory.hpp"

// Scores as words that sort like them, the highest first.

namespace karpos::detail {

/// An unsigned integer of as many bits as a score.
template <class Score>
using rank_bits = std::conditional_t<sizeof(Score) == 4, std::uint32_t, std::uint64_t>;

template <class Score>
inline constexpr bool is_score = std::is_arithmetic_v<Score> && !std::is_same_v<Score, bool> &&
                                 (sizeof(Score) == 4 || sizeof(Score) == 8);

/// The lower, the higher the score; equal for equal scores, 0.0 and -0.0 among them. NaN comes behind everything else.
template <class Score>
KOKKOS_FUNCTION rank_bits<Score> falling_bits(Score score) {
  using bits = rank_bits<Score>;
  constexpr bits sign = bits(1) << (8 * sizeof(bits) - 1);
  if constexpr (std::is_floating_point_v<Score>) {
    if (score != score) return ~bits(0);
    bits const b = score == Score(0) ? bits(0) : Kokkos::bit_cast<bits>(score);
    return (b & sign) != 0 ? b : static_cast<bits>(~(b | sign));
  } else if constexpr (std::is_signed_v<Score>) {
    return static_cast<bits>(~(static_cast<bits>(score) ^ sign));
  } else {
    return static_cast<bits>(~static_cast<bits>(score));
  }
}

/// The score that has these bits; not for NaN. Of 0.0 and -0.0: 0.0.
template <class Score>
KOKKOS_FUNCTION Score score_of(rank_bits<Score> falling) {
  static_assert(std::is_floating_point_v<Score>);
  using bits = rank_bits<Score>;
  constexpr bits sign = bits(1) << (8 * sizeof(bits) - 1);
  return Kokkos::bit_cast<Score>((falling & sign) != 0 ? falling
                                                       : static_cast<bits>(~falling ^ sign));
}

/// Who has a score. The less comes first: falling scores, and of equal ones rising indices.
template <class Bits>
struct ranked {
  Bits falling;
  std::uint64_t index;

  KOKKOS_FUNCTION friend bool operator<(ranked const& a, ranked const& b) {
    return a.falling < b.falling || (a.falling == b.falling && a.index < b.index);
  }
};

template <class ExecSpace>
inline constexpr bool is_on_host =
    std::is_same_v<typename ExecSpace::memory_space, Kokkos::HostSpace>;

/// Memory for so many elements that hold anything; in huge pages on hosts that have them.
template <class View, class ExecSpace, class... Extents>
View rank_array(ExecSpace const& exec, std::string const& label, Extents... extents) {
  return allocate_or_explain<typename View::memory_space>(
      (std::uint64_t(extents) * ... * sizeof(typename View::value_type)), label,
      "rank fewer elements", [&] { return uninitialized_array<View>(exec, label, extents...); });
}

}  // namespace karpos::detail
