// SPDX-License-Identifier: Apache-2.0
/// \file
/// A key and its value share a slot of sixteen bytes.
#include <karpos/hash_map.hpp>
#include <karpos/hopscotch_map.hpp>

struct key {
  unsigned x[4];
  KOKKOS_FUNCTION friend bool operator==(key a, key b) {
    return a.x[0] == b.x[0] && a.x[1] == b.x[1] && a.x[2] == b.x[2] && a.x[3] == b.x[3];
  }
};

using space = Kokkos::DefaultHostExecutionSpace;
#ifdef KARPOS_GOOD
using map_type = karpos::hash_map<key, int, space>;
#else
using map_type = karpos::hopscotch_map<key, int, space>;
#endif

std::uint64_t insert(Kokkos::View<key*, Kokkos::HostSpace> keys) {
  map_type map(space{}, keys.extent(0));
  return map.insert(space{}, keys, 1).inserted;
}
