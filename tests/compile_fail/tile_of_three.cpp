// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiles have 1, 2, 4, 8, 16 or 32 lanes.
#include <karpos/hash_map.hpp>

#ifdef KARPOS_GOOD
constexpr int width = 4;
#else
constexpr int width = 3;
#endif

using map =
    karpos::hash_map<unsigned, unsigned, Kokkos::DefaultExecutionSpace, karpos::hash<unsigned>,
                     karpos::equal_to<unsigned>, karpos::double_hashing, 12>;

karpos::outcome insert(map::ref_type const& ref) {
  return ref.insert(karpos::device::reference_tile<width>{}, 1u, 2u);
}
