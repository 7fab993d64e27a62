// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/detail/probe.hpp"
#include "karpos/hash.hpp"

// Bodies of the kernels that look at every slot of a table, one each. A slot is read at once, beside writers.

namespace karpos::detail {

template <class Table>
struct count_body {
  Table table;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += table.slot().live(device::load_relaxed(table.slot_at(i)));
  }
};

template <class Table>
struct count_tombstones_body {
  Table table;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += table.slot().erased(device::load_relaxed(table.slot_at(i)));
  }
};

/// visit(key, value), or visit(key) for a set, for every live slot.
template <class Table, class Visit>
struct visit_body {
  using layout = typename Table::layout;
  Table table;
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const slot = device::load_relaxed(table.slot_at(i));
    if (!table.slot().live(slot)) return;
    auto const key = from_bits<typename Table::key_type>(layout::key_of(slot));
    if constexpr (layout::has_value)
      visit(key, layout::value_of(slot));
    else
      visit(key);
  }
};

/// Writes the live slots one after another: the scan gives each its place.
template <class Table, class KeysOut, class ValuesOut>
struct retrieve_body {
  using layout = typename Table::layout;
  Table table;
  KeysOut keys;
  ValuesOut values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& place, bool final) const {
    auto const slot = device::load_relaxed(table.slot_at(i));
    if (!table.slot().live(slot)) return;
    if (final) {
      keys(place) = from_bits<typename Table::key_type>(layout::key_of(slot));
      if constexpr (layout::has_value) values(place) = layout::value_of(slot);
    }
    ++place;
  }
};

/// Copies the live slots of one table into another: a rehash.
template <class Table>
struct reinsert_body {
  using layout = typename Table::layout;
  Table from, to;

  KOKKOS_FUNCTION int prepare(std::uint64_t) const { return 0; }
  KOKKOS_FUNCTION device::staged_result operator()(std::uint64_t i, int) const {
    auto const slot = device::load_relaxed(from.slot_at(i));
    if (!from.slot().live(slot)) return device::staged_result::done();
    auto const key = from_bits<typename Table::key_type>(layout::key_of(slot));
    outcome const o =
        insert_into(to, device::thread_tile{}, key, layout::value_of(slot), keep_stored{});
    return device::staged_result::counted(insert_report::counter_of(o));
  }
};

}  // namespace karpos::detail
