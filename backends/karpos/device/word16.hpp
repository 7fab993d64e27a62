// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace karpos::device {

/// Sixteen bytes that are compared and swapped together if the machine can do that. The halves may
/// be read one after the other.
struct alignas(16) word16 {
  std::uint64_t lo, hi;
  KOKKOS_FUNCTION friend constexpr bool operator==(word16 a, word16 b) {
    return a.lo == b.lo && a.hi == b.hi;
  }
};

/// Sixteen bytes that are read, as well as compared and swapped, together: where has_wide_cas.
struct bits128 : word16 {};

/// Sixteen bytes that are read together, and a pair beside them.
struct word32 {
  bits128 key;
  word16 rest;
  KOKKOS_FUNCTION friend constexpr bool operator==(word32 a, word32 b) {
    return a.key == b.key && a.rest == b.rest;
  }
};

}  // namespace karpos::device
