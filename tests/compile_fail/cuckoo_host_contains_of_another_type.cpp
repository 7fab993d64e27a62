// SPDX-License-Identifier: Apache-2.0
/// \file
/// Asks on the host for a key of another type, which would be converted: 2^32 + 5 to 5.
#include <karpos/cuckoo_map.hpp>

#ifdef KARPOS_GOOD
using query = std::uint32_t;
#else
using query = std::uint64_t;
#endif

using map_type = karpos::cuckoo_map<std::uint32_t, int, Kokkos::DefaultHostExecutionSpace>;

bool ask(map_type const& map, query q) { return map.contains(q); }
