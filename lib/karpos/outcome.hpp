// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/hash.hpp"

namespace karpos {

/// The result of one operation on a map or set. No key is dropped silently; `full` and `invalid`
/// leave the table as it was.
enum class outcome : std::uint32_t {
  inserted,  ///< insertion: the key was new and is stored now
  existing,  ///< insertion: the key was stored already
  full,      ///< insertion: the key is new and found no slot; the table is unchanged
  erased,    ///< erasure: the key was stored and is removed now
  found,     ///< lookup: the key is stored
  absent,    ///< erasure and lookup: the key is not stored
  invalid    ///< the key equals a sentinel, which no table stores
};

/// Counts of the outcomes of a bulk insertion. The four counts add up to the number of keys
/// offered: equal keys count each. A key that a stencil excludes is not offered.
struct insert_report {
  std::uint64_t inserted = 0;  ///< keys that were new
  std::uint64_t existing = 0;  ///< keys that were stored already, or equal another key of the call
  std::uint64_t rejected = 0;  ///< keys that found no free slot
  std::uint64_t invalid = 0;   ///< keys equal to a sentinel, never inserted

  /// The number of counters. Kernels address a counter by its index: counter_of(o) for outcome o of
  /// an insertion.
  static constexpr int counters = 4;
  KOKKOS_FUNCTION static constexpr int counter_of(outcome o) {
    return o == outcome::inserted ? 0 : o == outcome::existing ? 1 : o == outcome::full ? 2 : 3;
  }
  KOKKOS_FUNCTION constexpr std::uint64_t& operator[](int i) {
    return i == 0 ? inserted : i == 1 ? existing : i == 2 ? rejected : invalid;
  }
  KOKKOS_FUNCTION constexpr insert_report& operator+=(insert_report const& other) {
    inserted += other.inserted;
    existing += other.existing;
    rejected += other.rejected;
    invalid += other.invalid;
    return *this;
  }
  KOKKOS_FUNCTION friend constexpr bool operator==(insert_report const& a, insert_report const& b) {
    return a.inserted == b.inserted && a.existing == b.existing && a.rejected == b.rejected &&
           a.invalid == b.invalid;
  }
};

/// The number of keys that a bulk erasure removed.
struct erase_report {
  std::uint64_t erased = 0;

  static constexpr int counters = 1;  ///< one: the number of outcome::erased
  KOKKOS_FUNCTION constexpr std::uint64_t& operator[](int) { return erased; }
  KOKKOS_FUNCTION constexpr erase_report& operator+=(erase_report const& other) {
    erased += other.erased;
    return *this;
  }
};

/// The answer of a lookup: a value that may be absent (std::optional without its host-only
/// members). `value` is unspecified unless `present`.
template <class T>
struct found {
  bool present = false;
  T value{};

  KOKKOS_FUNCTION constexpr explicit operator bool() const { return present; }
  KOKKOS_FUNCTION constexpr T const& operator*() const { return value; }
  /// Returns the value if present, otherwise `other`.
  KOKKOS_FUNCTION constexpr T value_or(T const& other) const {
    if constexpr (sizeof(T) > 8)
      return present ? value : other;
    else
      return detail::select(present, value, other);
  }
};

}  // namespace karpos
