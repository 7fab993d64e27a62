// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/tables/cuckoo/items.hpp"
#include "karpos/detail/tables/cuckoo/tuning.hpp"

// Splits items by region: a few neighbouring buckets, or a partition of the dense layout.
// GPUs use regions of fixed capacity (partition/split.hpp). A region that needs more could hardly
// be built: another seed is tried then. CPUs count.

namespace karpos::detail::cuckoo {

/// How n items, whose hashes spread them evenly over groups, are split into regions of 2^shift
/// groups.
template <class ExecSpace, class Word>
struct region_plan {
  using split_type = partition::capacity_split<ExecSpace, Word, partition::tuning<ExecSpace>>;
  static constexpr bool by_capacity = device::is_device<ExecSpace>;

  std::uint64_t items = 0, regions = 1;
  int shift = 0;
  split_type split;  // its capacities hold on CPUs, too: a region with more items overflows

  region_plan() = default;
  /// max_regions: of one pass. max_items: of a region.
  region_plan(std::uint64_t n, std::uint64_t groups, int shift_by, std::uint64_t max_regions,
              std::uint64_t max_items)
      : items(n),
        regions(((groups - 1) >> shift_by) + 1),
        shift(shift_by) {
    double const mean = static_cast<double>(n) / static_cast<double>(groups) *
                        static_cast<double>(std::uint64_t(1) << shift);
    split = {regions <= max_regions ? partition::split_passes{regions}
                                    : partition::split_passes::two_by_bits(regions),
             partition::capacity_policy(mean, 1, Kokkos::min(n / 32 * 32 + 32, max_items))};
  }
  std::uint32_t capacity() const { return split.fine.capacity; }
};

/// The arrays of a split, in one block of memory; arrays that it does not need have no elements.
template <class ExecSpace, class Word>
struct split_memory {
  using plan_type = region_plan<ExecSpace, Word>;
  using counting_plan = partition::plan<ExecSpace, Word>;

  plan_type plan;
  build_report* report = nullptr;
  std::uint64_t* begins = nullptr;
  Word *items = nullptr, *coarse_items = nullptr;
  std::byte* partition_workspace = nullptr;
  std::size_t bytes = 0;

  split_memory(ExecSpace const& exec, plan_type const& p, bool with_coarse,
               std::byte* memory = nullptr)
      : plan(p) {
    constexpr bool fixed = plan_type::by_capacity;
    arena a(memory);
    a.allocate(report, 1);
    if (memory != nullptr) plan.split.count_overflow_in(&report->overflowed);
    plan.split.allocate_from(a);
    a.allocate(begins, fixed ? 0 : p.regions + 1);
    a.allocate(items, fixed ? p.split.places() : p.items);
    a.allocate(coarse_items, fixed && with_coarse ? p.split.coarse_places() : 0);
    a.allocate(partition_workspace,
               fixed ? 0 : counting_plan(exec, p.items, p.regions, false).bytes());
    bytes = a.bytes();
  }
  partition::partitioned_rows<Word> regions() const {
    return {items, plan_type::by_capacity ? nullptr : begins, plan.split.fine};
  }
};

/// Splits the items of a source by region, and zeroes the report. `label` is of the kernel that
/// does that; `coarse_items` has the rows between two passes. Asynchronous.
template <class ExecSpace, class View, class Source>
void split_by_region(std::string const& label, ExecSpace const& exec, View const& table,
                     Source const& source, split_memory<ExecSpace, typename View::word> const& m,
                     typename View::word* coarse_items) {
  fill_words(label.c_str(), exec, m.report, 1, 0);
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
