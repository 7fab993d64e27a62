// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bulk calls name the stream or the threads that they work on.
#include <karpos/hash_map.hpp>

using space = Kokkos::DefaultExecutionSpace;

void look_up([[maybe_unused]] space const& exec, karpos::hash_map<int, int> const& map,
             Kokkos::View<int*> keys, Kokkos::View<int*> out) {
#ifdef KARPOS_GOOD
  map.find(exec, keys, out, 0);
#else
  map.find(keys, out, 0);
#endif
}
