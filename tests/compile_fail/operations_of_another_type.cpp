// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes operations whose keys would be converted silently.
#include <karpos/hash_map.hpp>
#include <karpos/map_operation.hpp>

#ifdef KARPOS_GOOD
using key = std::uint32_t;
#else
using key = int;
#endif

void apply(karpos::hash_map<std::uint32_t, int>& map,
           Kokkos::View<karpos::map_operation<key, int>*> const& operations,
           Kokkos::View<karpos::map_result<int>*> const& results) {
  map.apply(Kokkos::DefaultExecutionSpace{}, operations, results);
}
