// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys are copied as bits, by several threads at once.
#include <karpos/hash_map.hpp>

struct key {
  int x;
#ifndef KARPOS_GOOD
  KOKKOS_FUNCTION key(key const& other) : x(other.x) {}
  KOKKOS_FUNCTION key& operator=(key const& other) {
    x = other.x;
    return *this;
  }
  KOKKOS_FUNCTION key(int i) : x(i) {}
#endif
  KOKKOS_FUNCTION friend bool operator==(key a, key b) { return a.x == b.x; }
};

std::size_t bytes() { return karpos::hash_map<key, int>::bytes_for(10); }
