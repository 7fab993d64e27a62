// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes arguments in the wrong order, so that the first is no tile.
#include <karpos/hash_map.hpp>

using map = karpos::hash_map<unsigned, unsigned>;

karpos::outcome insert(map::ref_type const& ref) {
#ifdef KARPOS_GOOD
  return ref.insert(karpos::device::thread_tile{}, 1u, 2u);
#else
  return ref.insert(1u, 2u, karpos::device::thread_tile{});
#endif
}
