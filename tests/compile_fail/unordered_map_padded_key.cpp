// SPDX-License-Identifier: Apache-2.0
/// \file
/// The default hash reads bytes, and the padding of equal keys may differ. Floating-point members
/// alone are not padding.
#include <karpos/unordered_map.hpp>

struct key {
#ifdef KARPOS_GOOD
  double id, row;
#else
  int id;
  double row;
#endif
  KOKKOS_FUNCTION friend bool operator==(key const& a, key const& b) {
    return a.id == b.id && a.row == b.row;
  }
};

bool is_in(karpos::unordered_map<key, int> const& map) { return map.exists(key{1, 2}); }
