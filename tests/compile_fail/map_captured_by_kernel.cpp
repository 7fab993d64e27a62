// SPDX-License-Identifier: Apache-2.0
/// \file
/// A map owns its memory, and is not copied into a kernel.
#include <karpos/hash_map.hpp>

using space = Kokkos::DefaultExecutionSpace;

void number(space const& exec, karpos::hash_map<int, int> const& map, Kokkos::View<int*> ids) {
#ifdef KARPOS_GOOD
  auto const ref = map.ref();
  Kokkos::parallel_for(
      Kokkos::RangePolicy(exec, 0, ids.extent(0)), KOKKOS_LAMBDA(int i) { ref.insert(ids(i), i); });
#else
  Kokkos::parallel_for(
      Kokkos::RangePolicy(exec, 0, ids.extent(0)), KOKKOS_LAMBDA(int i) { map.insert(ids(i), i); });
#endif
}
