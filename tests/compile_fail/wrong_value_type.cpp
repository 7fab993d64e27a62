// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes values of another type, which would be converted silently: 2.75 to 2.
#include <karpos/hash_map.hpp>

#ifdef KARPOS_GOOD
using value = int;
#else
using value = double;
#endif

void insert(karpos::hash_map<int, int>& map, Kokkos::View<int*> const& keys,
            Kokkos::View<value*> const& values) {
  map.insert(Kokkos::DefaultExecutionSpace{}, keys, values);
}
