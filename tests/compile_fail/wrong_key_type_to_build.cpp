// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes keys of another type to cuckoo_map::build, which would be converted silently.
#include <karpos/cuckoo_map.hpp>

#ifdef KARPOS_GOOD
using key = std::uint32_t;
#else
using key = int;
#endif

void build(karpos::cuckoo_map<std::uint32_t, int>& map, Kokkos::View<key*> const& keys,
           Kokkos::View<int*> const& values) {
  map.build(Kokkos::DefaultExecutionSpace{}, keys, values);
}
