// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels cannot read a std::vector in general: arrays are views.
#include <karpos/reduce_by_key.hpp>
#include <vector>

using space = Kokkos::DefaultHostExecutionSpace;

#ifdef KARPOS_GOOD
using column = Kokkos::View<int*, Kokkos::HostSpace>;
#else
using column = std::vector<int>;
#endif

auto sum(column const& keys, column const& values, column const& keys_out, column const& sums) {
  return karpos::reduce_by_key(space{}, keys, values, keys_out, sums);
}
