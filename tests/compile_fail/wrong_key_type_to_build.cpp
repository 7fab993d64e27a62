// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of another type would be converted in silence: a cuckoo_map is built from keys of its own.
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
