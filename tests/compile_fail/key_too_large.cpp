// SPDX-License-Identifier: Apache-2.0
/// \file
/// A key and its value share a slot of sixteen bytes.
#include <karpos/hash_map.hpp>

struct key {
#ifdef KARPOS_GOOD
  unsigned x[2];
#else
  unsigned x[3];
#endif
  KOKKOS_FUNCTION friend bool operator==(key a, key b) {
    return a.x[0] == b.x[0] && a.x[1] == b.x[1];
  }
};

std::size_t bytes() { return karpos::hash_map<key, int>::bytes_for(10); }
