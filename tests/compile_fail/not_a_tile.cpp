// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is passed as a tile must be one: here the arguments are in the wrong order.
#include <karpos/hash_map.hpp>

using map = karpos::hash_map<unsigned, unsigned>;

karpos::outcome insert(map::ref_type const& ref) {
#ifdef KARPOS_GOOD
  return ref.insert(karpos::device::thread_tile{}, 1u, 2u);
#else
  return ref.insert(1u, 2u, karpos::device::thread_tile{});
#endif
}
