// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a fraction as the one value of all keys, where values are integers.
#include <karpos/hash_map.hpp>

void insert(karpos::hash_map<int, int>& map, Kokkos::View<int*> const& keys) {
#ifdef KARPOS_GOOD
  map.insert(Kokkos::DefaultExecutionSpace{}, keys, 2);
#else
  map.insert(Kokkos::DefaultExecutionSpace{}, keys, 2.75);
#endif
}
