// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a view for found values whose type cannot represent each of them.
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
