// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/key_sample.hpp"
#include "karpos/detail/multi_table/group_parts.hpp"
#include "karpos/detail/partition/memory.hpp"
#include "karpos/detail/partition/rooms.hpp"
#include "karpos/detail/partition/rows.hpp"
#include "karpos/detail/partition/tuning.hpp"
#include "karpos/detail/reduce_by_key/rows.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"
#include "karpos/partition.hpp"

// Groups the pairs of an insertion on a GPU. They are split by the hash of their keys into
// fixed-capacity partitions (`rooms`, partition/rooms.hpp), and a team (block) groups each
// partition (group_parts.hpp). If partitions would overflow, because some keys are frequent, pairs
// are counted before they are moved. If one team would have too much to do, an index groups the
// pairs instead (batch.hpp).

namespace karpos::detail::multi_table {

/// The type of a batch's values in rows; no_value for a set.
template <class Blocks>
struct values_of_rows {
  using type = reduce_by_key::no_value;
};
template <class Blocks>
  requires Blocks::has_values
struct values_of_rows<Blocks> {
  using type = typename Blocks::value_type;
};
template <class Key, class Blocks>
using row_of_batch =
    typename reduce_by_key::row_type<Key, typename values_of_rows<Blocks>::type>::type;

/// Whether keys are equal if and only if their bits are, and rows can be moved.
template <class ExecSpace, class Key, class KeyEqual, class Blocks>
inline constexpr bool may_group_in_rooms =
    device::is_device<ExecSpace> && std::is_same_v<KeyEqual, equal_to<Key>> &&
    partition::is_row<row_of_batch<Key, Blocks>>;

/// The number of partitions of n pairs, and their capacity.
template <class ExecSpace, class Row>
struct group_plan {
  static constexpr std::uint64_t most_room = group_sizes<ExecSpace, Row>::room / 32 * 32;
  static constexpr auto most_parts =
      static_cast<std::uint64_t>(partition::tuning<ExecSpace>::max_parts(false));
  /// With fewer pairs an index is as fast.
  static constexpr std::uint64_t least_pairs = 4096;
  std::uint64_t pairs, parts;
  std::uint32_t room;

  group_plan(ExecSpace const& exec, std::uint64_t n) : pairs(n) {
    // Partitions differ in length if keys have several pairs, so the capacity is one and a half
    // times their mean.
    constexpr std::uint64_t mean = most_room * 2 / 3;
    auto const teams = static_cast<std::uint64_t>(device::processors(exec));
    parts = Kokkos::max((n + mean - 1) / mean, Kokkos::min(teams, n / 1024));
    double const each =
        static_cast<double>(n) / static_cast<double>(Kokkos::max(parts, std::uint64_t(1)));
    room = static_cast<std::uint32_t>(
        Kokkos::min(std::uint64_t(partition::room_for_mean(1.5 * each)), most_room));
  }
  bool is_worth_it() const { return pairs >= least_pairs && parts <= most_parts; }
};

/// The arrays of a grouping, in one allocation of `bytes`: the different keys, the heads that the
/// table gets for them, and more. The pairs in their partitions come last.
template <class Row, class Key, class Number>
struct group_memory {
  Key* different;
  Number* heads;
  std::uint32_t *taken, *filled;
  group_counts* counts;
  Row* rows;
  std::uint32_t room;
  std::uint64_t parts;
  std::size_t bytes;

  group_memory(std::uint64_t pairs, std::uint64_t n, std::uint32_t each,
               std::byte* memory = nullptr)
      : room(each),
        parts(n) {
    arena a(memory);
    a.take(different, pairs);
    a.take(heads, pairs);
    a.take(taken, parts);
    a.take(filled, parts);
    a.take(counts, 1);
    a.take(rows, parts * room);
    bytes = a.bytes();
  }
  partition::rooms<Row> rooms() const {
    return {taken, filled, nullptr, &counts->listed, room, 0, static_cast<int>(parts)};
  }
};

/// The arrays of a grouping whose pairs are counted before they are moved.
template <class ExecSpace, class Row, class Key, class Number>
struct counted_memory {
  using plan_type = partition::plan<ExecSpace, Row>;
  plan_type plan;
  Key* different;
  Number* heads;
  std::uint64_t* offsets;
  group_counts* counts;
  std::byte* of_partition;
  Row* rows;
  std::uint64_t parts;
  std::size_t bytes;

  counted_memory(ExecSpace const& exec, std::uint64_t pairs, std::uint64_t n,
                 std::byte* memory = nullptr)
      : plan(exec, pairs, n, false),
        parts(n) {
    arena a(memory);
    a.take(different, pairs);
    a.take(heads, pairs);
    a.take(offsets, parts + 1);
    a.take(counts, 1);
    a.take(of_partition, plan.bytes());
    a.take(rows, pairs);
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
    return reduce_by_key::keys_alone<Row, held_by_loop<ExecSpace, Keys>>(for_loop<ExecSpace>(keys));
}

/// Groups pairs that have been split, in the memory m. Waits.
template <class ExecSpace, class Memory, class Parts, class Table, class Blocks>
group_counts group_split(ExecSpace const& exec, Memory const& m, Parts const& parts,
                         Table const& table, Blocks const& blocks, std::uint64_t begin) {
  using row = std::remove_pointer_t<decltype(m.rows)>;
  using key = std::remove_pointer_t<decltype(m.different)>;
  device::for_each_in_league(
      "karpos::multi_table: group parts", exec, static_cast<int>(m.parts),
      group_parts<ExecSpace, row, Parts, Table, Blocks, key>{m.rows, parts, table, blocks, begin,
                                                             m.different, m.heads, m.counts});
  return read_back(exec, m.counts, "karpos::multi_table: pairs are grouped");
}

/// How pairs are split into the partitions that teams group.
enum class grouping {
  in_rooms,          // different keys, or few equal ones
  in_counted_parts,  // partitions of less than about 85 keys: lengths would vary too much
  by_index           // a key so frequent that its team would work longer than all others
};

/// Returns the grouping that a sample of the keys suggests. A split of 2^26 pairs in vain would
/// cost a tenth of what follows.
template <class ExecSpace, class Source>
grouping best_grouping(ExecSpace const& exec, Source const& source, std::uint64_t parts) {
  constexpr std::uint64_t least_pairs = std::uint64_t(1) << 20, keys_each = 85,
                          most_equal = std::uint64_t(1) << 22;
  if (source.size() < least_pairs) return grouping::in_rooms;
  Kokkos::View<key_sample, typename ExecSpace::memory_space> const sample(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "karpos::multi_table: sample"));
  take_sample(exec, source, ~std::uint32_t(0), sample.data());
  key_sample const s = read_back(exec, sample.data(), "karpos::multi_table: a sample of the keys");
  // If n different keys are equally frequent, about s * s / (2 * n) of s sampled keys look equal to
  // an earlier one.
  std::uint64_t const looked = s.keys, equal = s.keys - s.different;
  if (equal * 2 * keys_each * parts <= looked * looked) return grouping::in_rooms;
  return source.size() / looked * s.most <= most_equal ? grouping::in_counted_parts
                                                       : grouping::by_index;
}

/// Groups the pairs of a batch: values go to their blocks, from `begin` on. Returns the counters.
/// If pairs have overflowed (`listed`) or partitions are full, not all pairs are grouped. Waits.
template <class ExecSpace, class Row, class Source, class Table, class Blocks, class Key>
group_counts group_in_rooms(ExecSpace const& exec, Source const& source,
                            group_memory<Row, Key, typename Blocks::mapped> const& m,
                            Table const& table, Blocks const& blocks, std::uint64_t begin) {
  fill_words("karpos::multi_table: clear counts", exec, m.counts, 1, 0);
  auto const parts = static_cast<std::uint32_t>(m.parts);
  using part_of = reduce_by_key::part_of_bits;
  partition::split_into_rooms(
      exec, source, partition::part_of_row<Source, part_of>{{parts, 0}, parts}, m.rooms(), m.rows);
  return multi_table::group_split<ExecSpace>(exec, m, parts_in_rooms<Row>{m.rooms()}, table, blocks,
                                             begin);
}
/// Groups the pairs of a batch, which are counted before they are moved. Otherwise as
/// group_in_rooms.
template <class ExecSpace, class Row, class Source, class Table, class Blocks, class Key>
group_counts group_in_counted_parts(
    ExecSpace const& exec, Source const& source,
    counted_memory<ExecSpace, Row, Key, typename Blocks::mapped> const& m, Table const& table,
    Blocks const& blocks, std::uint64_t begin) {
  fill_words("karpos::multi_table: clear counts", exec, m.counts, 1, 0);
  auto const parts = static_cast<std::uint32_t>(m.parts);
  partition::split_as_planned(
      exec, source, reduce_by_key::part_of_bits(parts, 0), m.plan, m.of_partition, m.rows,
      Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>(
          m.offsets, m.parts + 1));
  return multi_table::group_split<ExecSpace>(exec, m, counted_parts{m.offsets}, table, blocks,
                                             begin);
}

}  // namespace karpos::detail::multi_table
