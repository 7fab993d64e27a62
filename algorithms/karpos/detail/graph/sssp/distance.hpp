// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>

// Represents distances as words. Floating-point numbers that are not negative are ordered as their
// bits are as unsigned integers, so an atomic minimum of words is a minimum of distances, for every
// type.

namespace karpos::detail::sssp {

template <class T>
concept weight =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    (std::is_integral_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8));

template <weight T>
struct distance_traits {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  KOKKOS_FUNCTION static word to_word(T x) { return Kokkos::bit_cast<word>(x); }
  KOKKOS_FUNCTION static T from_word(word w) { return Kokkos::bit_cast<T>(w); }

  /// Returns the word of a weight, ordered as weights are; -0.0 counts as 0.
  KOKKOS_FUNCTION static word of_weight(T w) { return to_word(w == T(0) ? T(0) : w); }

  /// Returns the distance of unreachable vertices: infinity, or the largest integer.
  KOKKOS_FUNCTION static constexpr T infinite_weight() {
    if constexpr (std::is_floating_point_v<T>)
      return Kokkos::Experimental::infinity_v<T>;
    else
      return Kokkos::Experimental::finite_max_v<T>;
  }
  KOKKOS_FUNCTION static word infinity() { return to_word(infinite_weight()); }

  /// Returns the distance at the end of an edge; `infinity` if it exceeds the range of distances.
  /// An edge of infinite weight leads nowhere. Requires: d is below `infinity`, w is not negative.
  KOKKOS_FUNCTION static word plus(word d, T w) {
    if constexpr (std::is_floating_point_v<T>)
      return to_word(from_word(d) + w);
    else
      return static_cast<word>(w) < infinity() - d ? d + static_cast<word>(w) : infinity();
  }
  /// Returns whether an edge of this weight may be followed.
  KOKKOS_FUNCTION static bool is_finite(T w) {
    if constexpr (std::is_floating_point_v<T>)
      return w < infinite_weight();
    else
      return true;
  }
  /// Returns whether a weight is invalid: negative, or not a number.
  KOKKOS_FUNCTION static bool is_invalid([[maybe_unused]] T w) {
    if constexpr (std::is_unsigned_v<T>)
      return false;
    else
      return !(w >= T(0));
  }
};

}  // namespace karpos::detail::sssp
