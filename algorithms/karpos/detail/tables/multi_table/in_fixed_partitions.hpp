// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/tables/multi_table/group_partitions.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"

// Groups the pairs of an insertion on a GPU. They are split by the hash of their keys into
// fixed-capacity partitions (partition/split.hpp), and a team (block) groups each
// partition (group_partitions.hpp). If partitions would overflow, because some keys are frequent,
// pairs are counted before they are moved. If one team would have too much to do, an index groups
// the pairs instead (batch.hpp).

namespace karpos::detail::multi_table {

template <class Key, class Blocks>
using row_of_batch = typename reduce_by_key::row_type<Key, typename Blocks::value_type>::type;

/// Whether keys are equal if and only if their bits are, and rows can be moved.
template <class ExecSpace, class Key, class KeyEqual, class Blocks>
inline constexpr bool may_group_in_partitions =
    device::is_device<ExecSpace> && std::is_same_v<KeyEqual, equal_to<Key>> &&
    partition::is_row<row_of_batch<Key, Blocks>>;

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

/// Returns the pairs, or keys, of a batch as the source of a partition.
template <class Row, class Blocks, class ExecSpace, class Keys, class Values>
auto source_of_batch(Keys const& keys, [[maybe_unused]] Values const& values) {
  using device::for_loop, device::held_by_loop;
  if constexpr (Blocks::has_values)
    return reduce_by_key::keys_and_values<Row, held_by_loop<ExecSpace, Keys>,
                                          held_by_loop<ExecSpace, Values>>(
        for_loop<ExecSpace>(keys), for_loop<ExecSpace>(values));
  else
    return reduce_by_key::keys_only<Row, held_by_loop<ExecSpace, Keys>>(for_loop<ExecSpace>(keys));
}

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

/// Splits the pairs of a batch and groups them: values go to their blocks, from `begin` on. Returns
/// the counters. If pairs have overflowed or partitions are full, not all pairs are grouped. Waits.
template <class ExecSpace, class Row, class Source, class Table, class Blocks, class Key>
group_counts split_and_group(ExecSpace const& exec, Source const& source, grouping how,
                             group_memory<ExecSpace, Row, Key, typename Blocks::mapped> const& m,
                             Table const& table, Blocks const& blocks, std::uint64_t begin) {
  fill_words("karpos::multi_table: clear counts", exec, m.counts, 1, 0);
  auto const partitions = static_cast<std::uint32_t>(m.by_counting.partitions());
  reduce_by_key::partition_of_bits const of_key(partitions, 0);
  partition::partitioned_rows<Row const> pairs{m.rows, m.begins, {}};
  if (how == grouping::in_fixed_partitions) {
    partition::partition_of_row<Source, reduce_by_key::partition_of_bits> const of_row{of_key,
                                                                                       partitions};
    partition::split_rows(exec, source, partition::partition_functions{of_row, of_row},
                          m.by_capacity, m.rows, m.rows);
    pairs = m.by_capacity.rows_in(static_cast<Row const*>(m.rows));
  } else {
    partition::split_by_counting(exec, source, of_key, m.by_counting, m.partition_workspace, m.rows,
                                 m.begins);
  }
  device::for_each_in_league("karpos::multi_table: group partitions", exec,
                             static_cast<int>(partitions),
                             group_partitions<ExecSpace, Row, Table, Blocks, Key>{
                                 pairs, table, blocks, begin, m.distinct, m.heads, m.counts});
  return read_back(exec, m.counts, "karpos::multi_table: pairs are grouped");
}

}  // namespace karpos::detail::multi_table
