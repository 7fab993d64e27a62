// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values that give halves away that do not belong together.
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <karpos/hash.hpp>

namespace karpos_test {

/// A value that follows from its key and a stamp: half of one value with half of another does not pass, nor does the
/// value of another key.
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
