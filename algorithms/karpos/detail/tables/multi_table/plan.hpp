// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"

// How a GPU groups the pairs of an insertion: in partitions, by teams (group_partitions.hpp). If
// partitions of fixed capacity would overflow, because some keys are frequent, pairs are counted
// before they are moved. If one team would have too much to do, an index groups the pairs instead
// (batch.hpp). Sizes, memory, and the choice.

namespace karpos::detail::multi_table {

template <class Key, class Blocks>
using row_of_batch = typename reduce_by_key::row_type<Key, typename Blocks::value_type>::type;

/// Whether keys are equal if and only if their bits are, and rows can be moved.
template <class ExecSpace, class Key, class KeyEqual, class Blocks>
inline constexpr bool may_group_in_partitions =
    device::is_device<ExecSpace> && std::is_same_v<KeyEqual, equal_to<Key>> &&
    partition::is_row<row_of_batch<Key, Blocks>>;

/// Counters of a grouping, summed over its teams.
struct group_counts {
  std::uint64_t pairs, groups;  // placed ones
  std::uint64_t reserved;       // pairs whose key is a sentinel: they form no group
  std::uint32_t overflowed;     // pairs that overflowed their partition: then nothing is grouped
  std::uint32_t full;           // partitions with too many keys: then not all is grouped
};

/// The number of pairs that a team can group, and the layout of its scratch.
template <class ExecSpace, class Row>
struct group_sizes {
  using bits = decltype(reduce_by_key::key_of(Row{}));
  using keys = scratch_table<bits>;
  static constexpr std::size_t scratch_bytes =
      static_cast<std::size_t>(device::max_scratch_bytes<ExecSpace>) / 256 * 256;
  static constexpr std::size_t value_bytes =
      reduce_by_key::has_value<Row> ? sizeof(reduce_by_key::value_type<Row>) : 0;
  /// Slots for eight pairs, whose keys may all differ. There are enough slots that the pairs'
  /// values fit into the memory of the slots' keys (group_partitions.hpp).
  static constexpr std::size_t slots_for_8 =
      Kokkos::max(std::size_t(10), (8 * value_bytes + sizeof(bits) - 1) / sizeof(bits));
  /// Bytes for `bases` and for rounding.
  static constexpr std::size_t other_bytes = 256;
  static constexpr std::uint32_t capacity = static_cast<std::uint32_t>(
      (scratch_bytes - other_bytes) /
      (8 * sizeof(std::uint32_t) + slots_for_8 * (sizeof(bits) + sizeof(std::uint32_t))) * 8);
  static constexpr std::uint32_t slots = capacity / 8 * slots_for_8 / 4 * 4;
  static_assert(slots < 1 << 16 && capacity <= 1 << 16, "places have 16 bits for each");
};

/// The number of partitions of n pairs.
template <class ExecSpace, class Row>
struct group_plan {
  static constexpr std::uint64_t max_capacity = group_sizes<ExecSpace, Row>::capacity / 32 * 32;
  static constexpr auto max_partitions =
      static_cast<std::uint64_t>(partition::tuning<ExecSpace>::max_partitions(false));
  /// With fewer pairs an index is as fast.
  static constexpr std::uint64_t min_grouped_pairs = 4096;
  std::uint64_t pairs, partitions;

  group_plan(ExecSpace const& exec, std::uint64_t n) : pairs(n) {
    // Partitions differ in length if keys have several pairs, so the capacity is one and a half
    // times their mean.
    constexpr std::uint64_t mean = max_capacity * 2 / 3;
    auto const teams = static_cast<std::uint64_t>(device::processors(exec));
    partitions = Kokkos::max((n + mean - 1) / mean, Kokkos::min(teams, n / 1024));
  }
  bool is_applicable() const { return pairs >= min_grouped_pairs && partitions <= max_partitions; }
  partition::capacity_split<ExecSpace, Row> split() const {
    double const mean = static_cast<double>(pairs) / static_cast<double>(partitions);
    return {{partitions}, partition::capacity_policy(mean, 1.5, max_capacity)};
  }
};

/// The arrays of a grouping, in one allocation of `bytes`: the distinct keys, the heads that the
/// table gets for them, and more. The pairs in their partitions come last.
template <class ExecSpace, class Row, class Key, class Number>
struct group_memory {
  Key* distinct;
  Number* heads;
  partition::capacity_split<ExecSpace, Row> by_capacity;
  partition::plan<ExecSpace, Row> by_counting;
  std::uint64_t* begins;
  group_counts* counts;
  std::byte* partition_workspace;
  Row* rows;
  std::size_t bytes;

  group_memory(ExecSpace const& exec, group_plan<ExecSpace, Row> const& p,
               std::byte* memory = nullptr)
      : by_capacity(p.split()),
        by_counting(exec, p.pairs, p.partitions, false) {
    arena a(memory);
    a.allocate(distinct, p.pairs);
    a.allocate(heads, p.pairs);
    by_capacity.allocate_from(a);
    a.allocate(begins, p.partitions + 1);
    a.allocate(counts, 1);
    if (memory != nullptr) by_capacity.count_overflow_in(&counts->overflowed);
    a.allocate(partition_workspace, by_counting.bytes());
    a.allocate(rows, Kokkos::max(p.pairs, by_capacity.places()));
    bytes = a.bytes();
  }
};

/// How pairs are split into the partitions that teams group.
enum class grouping {
  in_fixed_partitions,    // distinct keys, or few equal ones
  in_counted_partitions,  // partitions of less than about 85 keys: lengths would vary too much
  by_index                // a key so frequent that its team would work longer than all others
};

/// Returns the grouping that a sample of the keys suggests. A split of 2^26 pairs in vain would
/// cost a tenth of what follows.
template <class ExecSpace, class Source>
grouping choose_grouping(ExecSpace const& exec, Source const& source, std::uint64_t partitions) {
  constexpr std::uint64_t min_sampled_pairs = std::uint64_t(1) << 20, keys_each = 85,
                          max_equal = std::uint64_t(1) << 22;
  if (source.size() < min_sampled_pairs) return grouping::in_fixed_partitions;
  Kokkos::View<sample_statistics, typename ExecSpace::memory_space> const sample(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "karpos::multi_table: sample"));
  count_sample(exec, source, ~std::uint32_t(0), sample.data());
  sample_statistics const s =
      read_back(exec, sample.data(), "karpos::multi_table: a sample of the keys");
  // If n distinct keys are equally frequent, about s * s / (2 * n) of s sampled keys look equal to
  // an earlier one.
  std::uint64_t const sampled = s.keys, equal = s.keys - s.distinct;
  if (equal * 2 * keys_each * partitions <= sampled * sampled) return grouping::in_fixed_partitions;
  return source.size() / sampled * s.most <= max_equal ? grouping::in_counted_partitions
                                                       : grouping::by_index;
}

/// Returns the bytes in which a GPU groups the pairs of an insertion. Returns 0 if an index groups
/// them, which allocates its own memory.
template <class Blocks, class KeyEqual, class Key, class ExecSpace>
std::size_t bytes_of_batch(ExecSpace const& exec, std::uint64_t pairs) {
  if constexpr (may_group_in_partitions<ExecSpace, Key, KeyEqual, Blocks>) {
    using row = row_of_batch<Key, Blocks>;
    using number = typename Blocks::mapped;
    group_plan<ExecSpace, row> const plan(exec, pairs);
    if (plan.is_applicable()) return group_memory<ExecSpace, row, Key, number>(exec, plan).bytes;
  }
  return 0;
}

}  // namespace karpos::detail::multi_table
