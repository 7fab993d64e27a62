// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include "karpos/device/native/native.hpp"

namespace karpos::device {

/// a * b, rounded: compilers do not fuse it with an addition, so that sums are the same in every space.
KOKKOS_FORCEINLINE_FUNCTION double rounded_product(double a, double b) {
  double p = a * b;
  KOKKOS_IF_ON_DEVICE((p = native_device::rounded_product(a, b);))
  KOKKOS_IF_ON_HOST((p = host::kept(p);))
  return p;
}

}  // namespace karpos::device
