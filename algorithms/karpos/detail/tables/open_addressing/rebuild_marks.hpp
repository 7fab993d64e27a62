// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/tables/open_addressing/ref.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loops.hpp"

// Rebuilding the overflow marks of a full table. Insertions that set marks eagerly leave marks of
// refused keys: if there are many, no lookup of a missing key ends early. The marks of the stored
// keys alone are gathered in memory beside the table, then replace those of the table.
//
// Blocking insertions do this, when nothing else runs. Lookups, erasures and insertions could run
// concurrently: a full table takes no key before it is cleared or rebuilt, so that every mark that
// a stored key needs is set before and after.

namespace karpos::detail::open_addressing {

template <class Table>
struct gather_marks {
  Table table;
  std::uint32_t* marks;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { table.mark_stored_key(i, marks); }
};
struct replace_marks {
  std::uint32_t const* from;
  std::uint32_t* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    device::store_relaxed(to + i, device::load_frozen(from + i));
  }
};

/// Replaces the marks of a table by those that its keys need. Asynchronous. `gathered`: memory of
/// mark_words(pairs) words. Requires: no slot is empty, and all keys are published.
template <class Table, class ExecSpace>
void rebuild_marks(std::string const& label, ExecSpace const& exec, Table const& table,
                   std::uint64_t slots, std::uint32_t* marks, std::uint32_t* gathered) {
  std::uint64_t const words = mark_words(table.pairs());
  fill_with(label, exec, gathered, words, same_value<std::uint32_t>{0});
  device::loop_over(label, exec, slots, gather_marks<Table>{table, gathered});
  device::loop_over(label, exec, words, replace_marks{gathered, marks});
}

}  // namespace karpos::detail::open_addressing
