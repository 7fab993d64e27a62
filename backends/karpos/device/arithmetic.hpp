// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <concepts>
#include <cstdint>

#include "karpos/device/native/native.hpp"

namespace karpos::device {

/// Returns a * b, rounded. Compilers do not fuse the product with an addition, so that sums are the
/// same in every space.
KOKKOS_FORCEINLINE_FUNCTION double rounded_product(double a, double b) {
  double p = a * b;
  KOKKOS_IF_ON_DEVICE((p = native_device::rounded_product(a, b);))
  KOKKOS_IF_ON_HOST((p = host::kept(p);))
  return p;
}

/// Returns condition ? a : b for words and pointers. On CPUs without a branch, for conditions that
/// no branch predictor can foresee.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T select(bool condition, T a, T b) {
  T chosen = condition ? a : b;
  KOKKOS_IF_ON_HOST((chosen = host::select(condition, a, b);))
  return chosen;
}

/// Returns the first i in [low, high) for which is_before(i) is false, or high, by bisection.
/// Requires: is_before holds for no i above one for which it does not hold.
template <class Index, class IsBefore>
KOKKOS_FORCEINLINE_FUNCTION Index partition_point(Index low, Index high,
                                                  IsBefore const& is_before) {
  while (low < high) {
    Index const middle = low + (high - low) / 2;
    if (is_before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Returns x, a word or several words, and hides from a GPU's compiler how x was computed. The
/// compiler then computes what depends on x at each use, instead of keeping it in registers.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T opaque(T const& x) {
  T same = x;
  KOKKOS_IF_ON_DEVICE((same = native_device::opaque(x);))
  return same;
}

/// Tells the compiler of CPU code that the condition holds.
KOKKOS_FORCEINLINE_FUNCTION void assume([[maybe_unused]] bool condition) {
  KOKKOS_IF_ON_HOST((host::assume(condition);))
}

}  // namespace karpos::device
