// SPDX-License-Identifier: Apache-2.0
/// \file
/// A key and its value share a slot of sixteen bytes.
#include <karpos/hash_map.hpp>

struct key {
#ifdef KARPOS_GOOD
  unsigned x[2];
#else
  unsigned x[5];
#endif
  KOKKOS_FUNCTION friend bool operator==(key a, key b) {
    return a.x[0] == b.x[0] && a.x[1] == b.x[1];
  }
};

using space = Kokkos::DefaultHostExecutionSpace;

std::uint64_t insert(Kokkos::View<key*, Kokkos::HostSpace> keys) {
  karpos::hash_map<key, int, space> map(space{}, keys.extent(0));
  return map.insert(space{}, keys, 1).inserted;
}
