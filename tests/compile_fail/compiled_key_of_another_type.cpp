// SPDX-License-Identifier: Apache-2.0
/// \file
/// A compiled map of keys that the library was not compiled for.
#include <karpos/compiled/hash_map.hpp>

#ifdef KARPOS_GOOD
using key = std::uint32_t;
#else
using key = std::uint16_t;
#endif

std::uint64_t keys_of(karpos::compiled::hash_map<key, float> const& map) {
  return map.size(karpos::compiled::execution_space());
}
