// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail::cuckoo {

/// Counts the keys of each group of slots.
template <class View, class Counts>
struct count_group_keys {
  View table;
  std::uint64_t group_slots;
  Counts counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (table.slot.live(table.slots[i])) device::add(&counts(i / group_slots), std::uint64_t(1));
  }
};

template <class Counts>
struct min_max_count {
  using result = Kokkos::MinMaxScalar<std::uint64_t>;
  Counts counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t g, result& r) const {
    r.min_val = Kokkos::min(r.min_val, counts(g));
    r.max_val = Kokkos::max(r.max_val, counts(g));
  }
};

/// Adds up how often buckets were restarted.
template <class View>
struct sum_attempts {
  View table;
  KOKKOS_FUNCTION void operator()(std::uint64_t b, std::uint64_t& sum) const {
    sum += table.metadata[b];
  }
};

/// Returns statistics of a table; zeros if it has no memory. Reads every slot. Blocks.
template <class ExecSpace, class Table>
cuckoo_stats statistics(ExecSpace const& exec, Table const& of) {
  using view = typename Table::view_type;
  using counts_view = Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space>;
  auto const& shape = of.shape();
  if (shape.slots == 0) return {};  // there are no metadata to read either
  view const v = of.view();
  counts_view const counts(Kokkos::view_alloc(exec, Table::label("group sizes")), shape.groups);
  Kokkos::parallel_for(Table::label("group sizes"), index_range(exec, shape.slots),
                       count_group_keys<view, counts_view>{v, shape.slots / shape.groups, counts});
  typename min_max_count<counts_view>::result sizes;
  Kokkos::parallel_reduce(Table::label("largest group"), index_range(exec, shape.groups),
                          min_max_count<counts_view>{counts}, Kokkos::MinMax<std::uint64_t>(sizes));
  std::uint64_t group_restarts = 0;
  if (shape.layout == cuckoo_layout::two_level)
    Kokkos::parallel_reduce(Table::label("group restarts"), index_range(exec, shape.groups),
                            sum_attempts<view>{v}, group_restarts);
  double const factor =
      of.size() == 0 ? 0 : static_cast<double>(shape.slots) / static_cast<double>(of.size());
  return {of.size(),     shape.slots,   factor,        shape.groups,
          sizes.min_val, sizes.max_val, of.restarts(), group_restarts};
}

}  // namespace karpos::detail::cuckoo
