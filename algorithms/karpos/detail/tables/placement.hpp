// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/outcome.hpp"

// Insertions by a function of the caller's, which are repeated for the indices that found no slot
// (insertion_access::place in hash_table_insertion.hpp).

namespace karpos::detail {

KOKKOS_FORCEINLINE_FUNCTION outcome outcome_of(outcome o) { return o; }
template <class T>
KOKKOS_FORCEINLINE_FUNCTION outcome outcome_of(map_result<T> const& r) {
  return r.outcome;
}

/// Calls f(table, i) for i = first + j or, if there is a list, i = list[j]. Writes the indices that
/// are not placed to `left`. Once there is one, writes others without a call: a search for a slot
/// in a full table is long.
template <class Table, class F>
struct place_index {
  Table table;
  F f;
  std::uint64_t first;
  std::uint64_t const* list;
  std::uint64_t* left;
  std::uint64_t* count;

  KOKKOS_FUNCTION void operator()(std::uint64_t j) const {
    std::uint64_t const i = list == nullptr ? first + j : list[j];
    if (device::load_relaxed(count) == 0 && outcome_of(f(table, i)) != outcome::full) return;
    left[device::fetch_add(count, std::uint64_t(1))] = i;
  }
};

}  // namespace karpos::detail
