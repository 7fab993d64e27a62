// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace karpos::device {

/// Sixteen bytes that are compared and swapped together if the machine can do that.
struct alignas(16) word16 {
  std::uint64_t lo, hi;
  KOKKOS_FUNCTION friend constexpr bool operator==(word16 a, word16 b) {
    return a.lo == b.lo && a.hi == b.hi;
  }
};

}  // namespace karpos::device
