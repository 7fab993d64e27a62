// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys are compared as bits: padding has bits of its own.
#include <karpos/hash_map.hpp>

struct key {
  short x;
#ifdef KARPOS_GOOD
  short y;
#endif
  int z;
  KOKKOS_FUNCTION friend bool operator==(key a, key b) { return a.x == b.x && a.z == b.z; }
};

std::size_t bytes() { return karpos::hash_map<key, int>::bytes_for(10); }
