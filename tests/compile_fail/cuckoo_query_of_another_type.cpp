// SPDX-License-Identifier: Apache-2.0
/// \file
/// Queries of another type would be converted silently: a query for 2^32 + 5 would find the key 5.
#include <karpos/cuckoo_map.hpp>

#ifdef KARPOS_GOOD
using query = std::uint32_t;
#else
using query = std::uint64_t;
#endif

bool ask(karpos::cuckoo_map<std::uint32_t, int> const& map, query q) {
  return map.ref().contains(q);
}
