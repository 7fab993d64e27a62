// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <concepts>
#include <cstdint>

#include "karpos/device/native/native.hpp"

namespace karpos::device {

/// a * b, rounded: compilers do not fuse it with an addition, so that sums are the same in every space.
KOKKOS_FORCEINLINE_FUNCTION double rounded_product(double a, double b) {
  double p = a * b;
  KOKKOS_IF_ON_DEVICE((p = native_device::rounded_product(a, b);))
  KOKKOS_IF_ON_HOST((p = host::kept(p);))
  return p;
}

/// A condition that no branch predictor knows: CPUs select by it. GPUs predicate anyway.
KOKKOS_FORCEINLINE_FUNCTION bool unpredictable(bool condition) {
  KOKKOS_IF_ON_HOST((condition = (host::opaque(static_cast<std::uint32_t>(condition)) & 1) != 0;))
  return condition;
}

/// condition ? a : b for words, without a branch on CPUs.
template <std::unsigned_integral Word>
KOKKOS_FORCEINLINE_FUNCTION Word select(bool condition, Word a, Word b) {
  Word chosen = condition ? a : b;
  KOKKOS_IF_ON_HOST((Word const all = host::opaque(static_cast<Word>(Word(0) - Word(condition)));
                     chosen = static_cast<Word>((a & all) | (b & ~all));))
  return chosen;
}

}  // namespace karpos::device
