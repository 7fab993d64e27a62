// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes keys of another type, which would be converted silently.
#include <karpos/hash_map.hpp>

#ifdef KARPOS_GOOD
using key = std::uint32_t;
#else
using key = int;
#endif

void insert(karpos::hash_map<std::uint32_t, int>& map, Kokkos::View<key*> const& keys) {
  map.insert(Kokkos::DefaultExecutionSpace{}, keys, 1);
}
