// SPDX-License-Identifier: Apache-2.0
/// \file
/// A query of another type would be converted in silence, and 2^32 + 5 found where 5 is.
#include <karpos/cuckoo_map.hpp>

#ifdef KARPOS_GOOD
using query = std::uint32_t;
#else
using query = std::uint64_t;
#endif

bool ask(karpos::cuckoo_map<std::uint32_t, int> const& map, query q) {
  return map.ref().contains(q);
}
