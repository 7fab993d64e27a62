// SPDX-License-Identifier: Apache-2.0
/// \file
/// A key and its value share a slot of sixteen bytes.
#include <karpos/hash_map.hpp>

struct value {
#ifdef KARPOS_GOOD
  float x[2];
#else
  float x[3];
#endif
};

using space = Kokkos::DefaultHostExecutionSpace;

std::uint64_t insert(Kokkos::View<int*, Kokkos::HostSpace> keys,
                     Kokkos::View<value*, Kokkos::HostSpace> values) {
  karpos::hash_map<int, value, space> map(space{}, keys.extent(0));
  return map.insert(space{}, keys, values).inserted;
}
