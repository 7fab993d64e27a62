// SPDX-License-Identifier: Apache-2.0
/// \file
/// 0.0 and -0.0 are equal, but differ in bits: a key of doubles needs an equality.
#ifdef KARPOS_GOOD
#include <karpos/unordered_map.hpp>
#else
#include <karpos/hash_map.hpp>
#endif

struct point {
  double x, y;
  KOKKOS_FUNCTION friend bool operator==(point const& a, point const& b) {
    return a.x == b.x && a.y == b.y;
  }
};

#ifdef KARPOS_GOOD
auto make() { return karpos::unordered_map<point, int>(10).size(); }
#else
auto make() {
  Kokkos::DefaultExecutionSpace const exec;
  return karpos::hash_map<point, int>(exec, 10).size(exec);
}
#endif
