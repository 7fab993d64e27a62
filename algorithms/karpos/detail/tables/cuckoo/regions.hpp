// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/fixed_partitions.hpp"
#include "karpos/detail/relational/partition/memory.hpp"
#include "karpos/detail/relational/partition/run.hpp"
#include "karpos/detail/tables/cuckoo/items.hpp"
#include "karpos/detail/tables/cuckoo/tuning.hpp"

// Splits items by region: a few neighbouring buckets, or a partition of the dense layout.
//
//   GPUs   into regions of fixed capacity (partition/fixed_partitions.hpp), for hashing makes
//          regions about equal: the capacity is the mean and 6.5 standard deviations. A region
//          that needs more could hardly be built: another seed is tried then. If there are many
//          regions, items are split into coarse ones of 2^coarse_bits neighbours first, and these
//          are split again.
//   CPUs   by an ordinary partition, which counts.

namespace karpos::detail::cuckoo {

/// The items of regions, where a split has left them.
template <class Word>
struct region_list {
  Word* items = nullptr;
  std::uint64_t const* begins = nullptr;  ///< of regions, and the end; null: fixed capacity
  std::uint32_t const* taken = nullptr;   ///< items of regions, also beyond the capacity
  /// Capacity of a region: with more items it overflows, wherever they lie.
  std::uint64_t capacity = 0;

  KOKKOS_FUNCTION Word* begin(std::uint64_t r) const {
    return items + (begins != nullptr ? begins[r] : r * capacity);
  }
  KOKKOS_FUNCTION std::uint64_t size(std::uint64_t r) const {
    return begins != nullptr ? begins[r + 1] - begins[r]
                             : Kokkos::min<std::uint64_t>(taken[r], capacity);
  }
  /// Returns whether a region has more items than its capacity.
  KOKKOS_FUNCTION bool overflows(std::uint64_t r) const {
    return (begins != nullptr ? size(r) : taken[r]) > capacity;
  }
};

/// How n items, whose hashes spread them evenly over groups, are split into regions of 2^shift
/// groups.
struct region_plan {
  std::uint64_t items = 0, regions = 1;
  int shift = 0;
  std::uint32_t capacity = 0;                             ///< capacity of a region, in items
  std::uint32_t coarse_regions = 0, coarse_capacity = 0;  ///< 0: one pass
  int coarse_bits = 0;

  /// Returns the plan for n items. `max_regions`: of one pass, a power of two.
  static region_plan of(std::uint64_t n, std::uint64_t groups, int shift,
                        std::uint64_t max_regions) {
    region_plan p{n, ((groups - 1) >> shift) + 1, shift};
    double const mean = static_cast<double>(n) / static_cast<double>(groups) *
                        static_cast<double>(std::uint64_t(1) << shift);
    p.capacity = capacity_for(mean, n);
    if (p.regions <= max_regions) return p;
    while ((std::uint64_t(1) << 2 * p.coarse_bits) < p.regions) ++p.coarse_bits;
    p.coarse_regions = static_cast<std::uint32_t>(((p.regions - 1) >> p.coarse_bits) + 1);
    p.coarse_capacity =
        capacity_for(mean * static_cast<double>(std::uint64_t(1) << p.coarse_bits), n);
    return p;
  }
  std::uint64_t total_capacity() const { return regions * capacity; }
  std::uint64_t total_coarse_capacity() const {
    return std::uint64_t(coarse_regions) * coarse_capacity;
  }
  /// Returns the number of regions that are counted: all that the coarse ones are split into, of
  /// which the last may have no items.
  std::uint64_t counted() const {
    return coarse_regions == 0 ? regions : std::uint64_t(coarse_regions) << coarse_bits;
  }

 private:
  static std::uint32_t capacity_for(double mean, std::uint64_t n) {
    std::uint64_t const all = (n + 31) / 32 * 32;
    return static_cast<std::uint32_t>(
        Kokkos::min<std::uint64_t>(partition::capacity_for_mean(mean), all));
  }
};

/// The arrays of a split, in one block of memory; arrays that it does not need have no elements.
/// The counters come first, and are zero before a split.
template <class ExecSpace, class Word>
struct split_memory {
  static constexpr bool in_fixed_partitions = device::is_device<ExecSpace>;
  using split_plan = partition::plan<ExecSpace, Word>;

  build_report* report = nullptr;
  std::uint32_t *taken = nullptr, *coarse_taken = nullptr;  // items of regions
  std::size_t counter_bytes = 0;
  std::uint32_t *filled = nullptr, *coarse_filled = nullptr;
  std::uint64_t* begins = nullptr;
  Word *items = nullptr, *coarse_items = nullptr;
  std::byte* partition_workspace = nullptr;
  std::size_t bytes = 0;

  split_memory(ExecSpace const& exec, region_plan const& p, bool with_coarse,
               std::byte* memory = nullptr) {
    arena a(memory);
    a.allocate(report, 1);
    a.allocate(taken, in_fixed_partitions ? p.counted() : 0);
    a.allocate(coarse_taken, in_fixed_partitions ? p.coarse_regions : 0);
    counter_bytes = a.bytes();
    a.allocate(filled, in_fixed_partitions ? p.counted() : 0);
    a.allocate(coarse_filled, in_fixed_partitions ? p.coarse_regions : 0);
    a.allocate(begins, in_fixed_partitions ? 0 : p.regions + 1);
    a.allocate(items, in_fixed_partitions ? p.total_capacity() : p.items);
    a.allocate(coarse_items, in_fixed_partitions && with_coarse ? p.total_coarse_capacity() : 0);
    a.allocate(partition_workspace,
               in_fixed_partitions ? 0 : split_plan(exec, p.items, p.regions, false).bytes());
    bytes = a.bytes();
  }
  region_list<Word> regions(region_plan const& p) const {
    return {items, in_fixed_partitions ? nullptr : begins, in_fixed_partitions ? taken : nullptr,
            p.capacity};
  }
};

/// Splits the items of a source. Asynchronous.
template <class ExecSpace, class View>
class region_split {
  using word = typename View::word;
  using memory_type = split_memory<ExecSpace, word>;
  using fixed_partitions = partition::fixed_partitions<word>;

 public:
  /// `label`: of the kernel that clears the counters. `coarse`: memory for the coarse regions, if
  /// any.
  region_split(std::string label, ExecSpace const& exec, View const& table, region_plan const& p,
               memory_type const& memory, word* coarse)
      : m_label(std::move(label)),
        m_exec(exec),
        m_table(table),
        m_plan(p),
        m_memory(memory),
        m_coarse(coarse) {}

  template <class Source>
  void run(Source const& source) const {
    fill_words(m_label.c_str(), m_exec, reinterpret_cast<std::uint32_t*>(m_memory.report),
               m_memory.counter_bytes / sizeof(std::uint32_t), 0);
    if constexpr (memory_type::in_fixed_partitions)
      split_into_fixed_partitions(source);
    else
      split_by_counting(source);
  }

 private:
  template <class Source>
  void split_into_fixed_partitions(Source const& source) const {
    fixed_partitions const to{m_memory.taken,
                              m_memory.filled,
                              nullptr,
                              &m_memory.report->overflowed[1],
                              m_plan.capacity,
                              0,
                              static_cast<int>(m_plan.regions)};
    if (m_plan.coarse_regions == 0)
      return partition::move_into_fixed_partitions(m_exec, source, source.size(),
                                                   partition_of<Source>(0), to, m_memory.items);
    fixed_partitions const coarse{m_memory.coarse_taken,
                                  m_memory.coarse_filled,
                                  nullptr,
                                  &m_memory.report->overflowed[0],
                                  m_plan.coarse_capacity,
                                  0,
                                  static_cast<int>(m_plan.coarse_regions)};
    partition::move_into_fixed_partitions(
        m_exec, source, source.size(), partition_of<Source>(m_plan.coarse_bits), coarse, m_coarse);
    partition::fine_partitions<word> again{to, coarse};
    again.partitions = 1 << m_plan.coarse_bits;
    partition::split_fixed_partitions(m_exec, partition::rows_in_partitions<Source>(m_coarse),
                                      source.size(), partition_of<Source>(0), again,
                                      m_memory.items);
  }
  template <class Source>
  void split_by_counting(Source const& source) const {
    typename memory_type::split_plan const plan(m_exec, source.size(), m_plan.regions, false);
    Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged> const
        begins(m_memory.begins, m_plan.regions + 1);
    partition::split_as_planned(m_exec, source, region_of_key<View>{m_table, m_plan.shift}, plan,
                                m_memory.partition_workspace, m_memory.items, begins);
  }
  template <class Source>
  auto partition_of(int coarse_bits) const {
    using region = region_of_key<View>;
    return partition::partition_of_row<Source, region>{region{m_table, m_plan.shift + coarse_bits},
                                                       static_cast<std::uint32_t>(m_plan.regions)};
  }

  std::string m_label;
  ExecSpace m_exec;
  View m_table;
  region_plan m_plan;
  memory_type m_memory;
  word* m_coarse;
};

}  // namespace karpos::detail::cuckoo
