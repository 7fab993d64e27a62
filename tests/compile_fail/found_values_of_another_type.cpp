// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values that are found go into a view of a type that does not hold each of them.
#include <karpos/hash_map.hpp>

#ifdef KARPOS_GOOD
using result = std::int64_t;
#else
using result = float;
#endif

void find(karpos::hash_map<int, int> const& map, Kokkos::View<int*> const& keys,
          Kokkos::View<result*> const& out) {
  map.find(Kokkos::DefaultExecutionSpace{}, keys, out, 0);
}
