// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a view of floating-point numbers for the counts of a multimap.
#include <karpos/hash_multimap.hpp>

#ifdef KARPOS_GOOD
using number = std::uint64_t;
#else
using number = float;
#endif

void count(karpos::hash_multimap<std::uint32_t, std::uint32_t> const& map,
           Kokkos::View<std::uint32_t*> const& queries, Kokkos::View<number*> const& counts) {
  map.count(Kokkos::DefaultExecutionSpace{}, queries, counts);
}
