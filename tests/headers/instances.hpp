// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Types on whose layout compilers have disagreed.
#include <cstdint>
#include <karpos/unordered_map.hpp>

namespace karpos_test {

/// A key whose alignment is smaller than that of its value.
struct cell_key {
  std::int32_t i, j, k;
  KOKKOS_FUNCTION friend bool operator==(cell_key const& a, cell_key const& b) {
    return a.i == b.i && a.j == b.j && a.k == b.k;
  }
};
struct cell_value {
  double mass, energy, volume;
};
template <class Key, class Value>
using record = karpos::detail::unordered_map::record_of<Key, Value>;
static_assert(alignof(record<cell_key, cell_value>) == 8);
static_assert(alignof(record<char, char>) == 4 && alignof(record<std::int16_t, double>) == 8);

inline std::size_t bytes_of_cells() {
  return karpos::unordered_map<cell_key, cell_value>::bytes_for(1000) +
         karpos::unordered_map<cell_key, void>::bytes_for(1000);
}

}  // namespace karpos_test
