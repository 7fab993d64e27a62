// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of another type would be converted in silence.
#include <karpos/hash_map.hpp>

#ifdef KARPOS_GOOD
using key = std::uint32_t;
#else
using key = int;
#endif

void insert(karpos::hash_map<std::uint32_t, int>& map, Kokkos::View<key*> const& keys) {
  map.insert(Kokkos::DefaultExecutionSpace{}, keys, 1);
}
