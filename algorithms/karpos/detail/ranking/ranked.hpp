// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"

// Scores as radix keys: unsigned words whose ascending order is the descending order of the scores.

namespace karpos::detail {

/// The radix key of a score: an unsigned integer of as many bits.
template <class Score>
using radix_key = std::conditional_t<sizeof(Score) == 4, std::uint32_t, std::uint64_t>;

template <class Score>
inline constexpr bool is_score = std::is_arithmetic_v<Score> && !std::is_same_v<Score, bool> &&
                                 (sizeof(Score) == 4 || sizeof(Score) == 8);

/// Returns the radix key of a score. A larger score has a smaller key; equal scores, such as 0.0
/// and -0.0, have equal keys. NaN has the largest key.
template <class Score>
KOKKOS_FUNCTION radix_key<Score> descending_key(Score score) {
  using bits = radix_key<Score>;
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

/// Returns the score of a radix key. The key of 0.0 and -0.0 gives 0.0; that of NaN, and keys of no
/// score, which are between those of minus infinity and NaN or below that of infinity, give NaNs.
template <class Score>
KOKKOS_FUNCTION Score score_from_key(radix_key<Score> key) {
  using bits = radix_key<Score>;
  constexpr bits sign = bits(1) << (8 * sizeof(bits) - 1);
  if constexpr (std::is_floating_point_v<Score>)
    return Kokkos::bit_cast<Score>((key & sign) != 0 ? key : static_cast<bits>(~key ^ sign));
  else
    return static_cast<Score>(~key ^ (std::is_signed_v<Score> ? sign : bits(0)));
}

/// A radix key and the index of its element. Ascending order: descending scores, and ascending
/// indices of equal scores.
template <class Bits>
struct ranked {
  Bits key;
  std::uint64_t index;

  KOKKOS_FUNCTION friend bool operator<(ranked const& a, ranked const& b) {
    return a.key < b.key || (a.key == b.key && a.index < b.index);
  }
};

/// The order of ranked elements, for a sort. Without a comparator some backends of Kokkos' sort
/// take numbers only.
struct ranks_higher {
  template <class Ranked>
  KOKKOS_FUNCTION bool operator()(Ranked const& a, Ranked const& b) const {
    return a < b;
  }
};

/// Returns an array with unspecified contents. Throws an allocation_error that explains.
template <class View, class ExecSpace, class... Extents>
View allocated_array(ExecSpace const& exec, std::string const& label, Extents... extents) {
  return allocate_array<View>(exec, label, label, "rank fewer elements", extents...);
}

}  // namespace karpos::detail
