// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/table_memory.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail::cuckoo {

template <class View, class Counts>
struct count_group {
  View table;
  std::uint64_t group_slots;
  Counts counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (table.slot.live(table.slots[i])) device::add(&counts(i / group_slots), std::uint64_t(1));
  }
};

template <class Counts>
struct smallest_and_largest {
  using result = Kokkos::MinMaxScalar<std::uint64_t>;
  Counts counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t g, result& r) const {
    if (counts(g) < r.min_val) r.min_val = counts(g);
    if (counts(g) > r.max_val) r.max_val = counts(g);
  }
};

template <class View>
struct sum_attempts {
  View table;
  KOKKOS_FUNCTION void operator()(std::uint64_t b, std::uint64_t& sum) const {
    sum += table.marks[b];
  }
};

/// Looks at every slot of a table. Waits for exec.
template <class ExecSpace, class Table>
cuckoo_stats statistics(ExecSpace const& exec, Table const& of) {
  using view = typename Table::view;
  using counts_view = Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space>;
  auto const& e = of.extent();
  view const seen = of.seen();
  counts_view const counts(Kokkos::view_alloc(exec, Table::label("group sizes")), e.groups);
  Kokkos::parallel_for(Table::label("group sizes"), index_range(exec, e.slots),
                       count_group<view, counts_view>{seen, e.slots / e.groups, counts});
  typename smallest_and_largest<counts_view>::result sizes;
  Kokkos::parallel_reduce(Table::label("largest group"), index_range(exec, e.groups),
                          smallest_and_largest<counts_view>{counts},
                          Kokkos::MinMax<std::uint64_t>(sizes));
  std::uint64_t group_restarts = 0;
  if (of.chosen().layout == cuckoo_layout::two_level)
    Kokkos::parallel_reduce(Table::label("group restarts"), index_range(exec, e.groups),
                            sum_attempts<view>{seen}, group_restarts);
  double const factor =
      of.size() == 0 ? 0 : static_cast<double>(e.slots) / static_cast<double>(of.size());
  return {of.size(),     e.slots,       factor,        e.groups,
          sizes.min_val, sizes.max_val, of.restarts(), group_restarts};
}

}  // namespace karpos::detail::cuckoo
