// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of 16 bytes for tests.
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <karpos/hash.hpp>
#include <vector>

#include "support/keys.hpp"

namespace karpos_test {

/// A key of a user's: two integers.
struct uuid {
  std::uint64_t first, second;
  KOKKOS_FUNCTION friend bool operator==(uuid a, uuid b) {
    return a.first == b.first && a.second == b.second;
  }
  friend bool operator<(uuid a, uuid b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  }
  /// Returns a number that other keys are unlikely to have.
  KOKKOS_FUNCTION explicit operator std::uint64_t() const {
    return first + 3 * karpos::mix(second);
  }
};

/// Returns keys that differ in the first half only, in the second half only, or in both.
template <>
inline std::vector<uuid> unique_keys<uuid>(std::size_t n, std::uint64_t stream) {
  std::vector<uuid> keys;
  for (std::uint64_t x : unique_keys<std::uint64_t>(n, stream))
    keys.push_back(keys.size() % 3 == 0   ? uuid{x, 5}
                   : keys.size() % 3 == 1 ? uuid{5, x}
                                          : uuid{x, ~std::uint64_t(0)});
  return keys;
}

}  // namespace karpos_test

template <>
struct std::hash<karpos_test::uuid> {
  std::size_t operator()(karpos_test::uuid key) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(key));
  }
};
