// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values whose two halves belong together, so that torn reads are detected.
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <karpos/hash.hpp>

namespace karpos_test {

/// Returns a value that depends on its key and on a stamp. Half of one value with half of another
/// is rejected, and so is the value of another key.
template <class T, class Key>
KOKKOS_FUNCTION T stamped(Key key, std::uint64_t stamp) {
  constexpr int half = static_cast<int>(sizeof(T)) * 4;
  std::uint64_t const s = stamp & ((std::uint64_t(1) << half) - 1);
  std::uint64_t const check =
      karpos::mix(static_cast<std::uint64_t>(key) * 31 + s) & ((std::uint64_t(1) << half) - 1);
  return static_cast<T>(s << half | check);
}
template <class T, class Key>
KOKKOS_FUNCTION bool is_stamped(Key key, T value) {
  constexpr int half = static_cast<int>(sizeof(T)) * 4;
  return stamped<T>(key, static_cast<std::uint64_t>(value) >> half) == value;
}

}  // namespace karpos_test
