// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/tables/cuckoo/plan.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"
#include "karpos/hash.hpp"

// The input of a build: the items of a source, split by region: a few neighbouring buckets, or a
// partition of the dense layout. GPUs use regions of fixed capacity (partition/split.hpp), CPUs
// split by counting. A region of more items than that capacity could hardly be built: on both,
// another seed is tried then.

namespace karpos::detail::cuckoo {

/// Adds n to a counter of the report, for a team that gives up.
template <class Team>
KOKKOS_FUNCTION void report_failure(Team const& t, std::uint64_t* counter, std::uint64_t n = 1) {
  if (t.rank() == 0) device::add(counter, n);
}

using device::rank, device::size;

/// Items as a partition moves them.
template <class View>
struct items_as_rows : partition::plain_rows<typename View::word> {
  using word = typename View::word;
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(word item) { return View::layout::key_of(item); }
};

/// Source of items: pairs of two views.
template <class View, class Keys, class Values>
struct all_pairs : items_as_rows<View> {
  using word = typename View::word;
  Keys keys;
  Values values;
  all_pairs(Keys const& k, Values const& v) : keys(k), values(v) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION word load(std::uint64_t i) const {
    return View::protocol::item(device::element(keys, i), device::element(values, i));
  }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, word* to) const {
    typename Keys::non_const_value_type k[N];
    typename View::mapped_type v[N];
    partition::load_elements<N>(keys, i, k);
    partition::load_elements<N>(values, i, v);
    for (int j = 0; j < N; ++j) to[j] = View::protocol::item(k[j], v[j]);
  }
};
/// Source of items: the pairs at a list of indices.
template <class View, class Keys, class Values, class Indices>
struct selected_pairs : items_as_rows<View> {
  using word = typename View::word;
  Keys keys;
  Values values;
  Indices indices;
  selected_pairs(Keys const& k, Values const& v, Indices const& i)
      : keys(k),
        values(v),
        indices(i) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return indices.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION word load(std::uint64_t i) const {
    return View::protocol::item(keys(indices(i)), values(indices(i)));
  }
};

/// Writes the pairs of a source to views, from an index on.
template <class View, class Source, class KeysOut, class ValuesOut>
struct append_pairs {
  using layout = typename View::layout;
  Source source;
  KeysOut keys;
  ValuesOut values;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const item = source.load(i);
    keys(first + i) = from_bits<typename View::key_type>(layout::key_of(item));
    values(first + i) = layout::value_of(item);
  }
};

/// The region of a key: that of its group, if a region holds 2^shift neighbouring groups.
template <class View>
struct region_of_key {
  View table;
  int shift;
  KOKKOS_FUNCTION std::uint32_t operator()(typename View::key_bits key) const {
    return static_cast<std::uint32_t>(
        table.group_of(table.hash_of(from_bits<typename View::key_type>(key))) >> shift);
  }
};

/// Splits the items of a source by region, and zeroes the report. `coarse_items` has the rows
/// between two passes. Asynchronous.
template <class ExecSpace, class View, class Source>
void split_by_region(ExecSpace const& exec, View const& table, Source const& source,
                     split_memory<ExecSpace, typename View::word> const& m,
                     typename View::word* coarse_items) {
  fill_words("karpos::cuckoo_map::clear counters", exec, m.report, 1, 0);
  auto const& plan = m.plan;
  using region = region_of_key<View>;
  if constexpr (device::is_device<ExecSpace>) {
    using of_row = partition::partition_of_row<Source, region>;
    auto const n = static_cast<std::uint32_t>(plan.regions);
    int const coarse_bits = std::countr_zero(plan.split.each);
    partition::split_rows(
        exec, source,
        partition::partition_functions<of_row>{{region{table, plan.shift}, n},
                                               {region{table, plan.shift + coarse_bits}, n}},
        plan.split, m.items, coarse_items);
  } else {
    partition::split_by_counting(
        exec, source, region{table, plan.shift},
        typename split_memory<ExecSpace, typename View::word>::counting_plan(exec, source.size(),
                                                                             plan.regions, false),
        m.partition_workspace, m.items, m.begins);
  }
}

}  // namespace karpos::detail::cuckoo
