// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/row_index/by_partitions.hpp"
#include "karpos/detail/relational/row_index/claims.hpp"
#include "karpos/detail/relational/row_index/lookup.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/detail/relational/row_index/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/key_value.hpp"
#include "karpos/table_options.hpp"

// Builds an index of rows:
//
//   rows       | a | b | a | c | b | a |     claims.hpp: a row claims a slot or finds its equal
//   slots      | . | c:3 | . | a:0 | b:1 | . |                      the lowest row stays
//   first_of   | 0 | 1 | 0 | 3 | 1 | 0 |     load_first_rows: what the row's slot holds now
//   firsts     | 1 | 1 | . | 1 | . | . |     mark_first_rows: bits, whose ranks are group ids
//   group_of   | 0 | 1 | 0 | 2 | 1 | 0 |     number_groups
//   grouped    | 0 2 5 | 1 4 | 3 |           a stable sort of row numbers by group id: passes of a
//   begins     | 0     | 3   | 5 | 6        stable partition (partition/split.hpp)
//
// Group ids and the order of a run do not depend on which thread came first. A frequent row costs
// no more than others: a row that finds a lower row in its slot writes no word that other threads
// use. Rows that are appended, a batch, go the same way as far as group_of. Their numbers are
// higher than those of earlier rows, and new groups get higher ids than earlier ones. If all rows
// of a batch are different, nothing is left to be found after the first step. If it is the only
// batch, there are no arrays of groups either: row i is group i. An index to which rows can be
// appended has these arrays from the start, because refs and copies made before must see them. Many
// rows claim slots by partitions on GPUs (by_partitions.hpp). A lookup finds the slot of an equal
// row (slots.hpp), and goes on to its group and run (lookup.hpp).
// Tests: row_index, rows, join.

namespace karpos::detail::row_index {

/// Numbers the groups of a batch of different rows, each of which is a group.
template <class RowNumber>
struct number_all {
  std::uint64_t begin, groups;  // first row of the batch; groups of rows before it
  RowNumber *group_of, *grouped;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    group_of[begin + i] = static_cast<RowNumber>(groups + i);
    grouped[groups + i] = static_cast<RowNumber>(begin + i);
  }
};

template <class RowNumber>
struct load_first_rows {
  std::uint64_t const* slots;
  RowNumber* first_of;  // the slot of row i of the batch; becomes its first row
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    RowNumber const slot = first_of[i];
    if (slot != none<RowNumber>) first_of[i] = slot_word<RowNumber>::row_of(slots[slot]);
  }
};

/// Marks, in a word of bits, the rows of a batch that are the first of their group. A thread reads
/// 16 bytes at once, because its neighbours read other lines.
template <class RowNumber>
struct mark_first_rows {
  static constexpr std::uint64_t each = 16 / sizeof(RowNumber);
  struct alignas(16) chunk {
    RowNumber first_of[each];
  };
  RowNumber const* first_of;
  std::uint64_t begin, rows;  // of the batch
  ranked_bits to;

  KOKKOS_FUNCTION void operator()(std::uint64_t word) const {
    std::uint64_t const first = 64 * word, last = Kokkos::min(first + 64, rows);
    std::uint64_t b = 0;
    for (std::uint64_t i = first; i < last; i += each) {
      chunk c{};
      if (i + each <= last)
        c = *reinterpret_cast<chunk const*>(first_of + i);
      else
        for (std::uint64_t j = i; j < last; ++j) c.first_of[j - i] = first_of[j];
      for (std::uint64_t j = i; j < Kokkos::min(i + each, last); ++j)
        b |= std::uint64_t(c.first_of[j - i] == begin + j) << j % 64;
    }
    to.set(word, b);
  }
};

/// Writes the group of each row of a batch, and the first row of each new group. Counts the rows
/// that have a group.
template <class RowNumber>
struct number_groups {
  RowNumber const* first_of;
  std::uint64_t begin, groups;  // begin: first row of the batch; groups: of rows before it
  ranked_bits firsts;
  RowNumber *group_of, *grouped;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const {
    RowNumber const first = first_of[i];
    count += first != none<RowNumber>;
    RowNumber group = first;
    if (first != none<RowNumber>)
      group = first < begin ? group_of[first]
                            : static_cast<RowNumber>(groups + firsts.rank(first - begin));
    group_of[begin + i] = group;
    if (first == begin + i) grouped[group] = first;
  }
};

/// Some bits of a row's group. Rows without a group come last, because all of their bits are set.
template <class RowNumber>
struct digit_of_group {
  int shift;
  std::uint32_t mask;
  KOKKOS_FUNCTION std::uint32_t operator()(RowNumber group) const {
    return static_cast<std::uint32_t>(group >> shift) & mask;
  }
};

/// Writes the runs of rows that are sorted by group.
template <class RowNumber>
struct write_runs {
  key_value<RowNumber, RowNumber> const* sorted;
  RowNumber *begins, *grouped;
  std::uint64_t rows, groups;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    grouped[i] = sorted[i].value;
    if (i == 0 || sorted[i - 1].key != sorted[i].key)
      begins[sorted[i].key] = static_cast<RowNumber>(i);
    if (i + 1 == rows) begins[groups] = static_cast<RowNumber>(rows);
  }
};

/// An index without its rows: the slots, groups and runs, in memory that the caller gave.
template <class ExecSpace, class RowNumber>
class groups_of_rows {
  using memory_space = typename ExecSpace::memory_space;
  using pair = key_value<RowNumber, RowNumber>;
  using work = build_arrays<ExecSpace, RowNumber>;
  template <class T>
  using unmanaged = Kokkos::View<T*, memory_space, Kokkos::MemoryUnmanaged>;

 public:
  /// Makes an index of no rows, with space for `capacity` rows in `memory`, of
  /// arrays(capacity, keeps_duplicates).slot_bytes.
  groups_of_rows(ExecSpace const& exec, std::uint64_t capacity, bool keeps_duplicates,
                 std::byte* memory)
      : m_arrays(capacity, keeps_duplicates, memory),
        m_capacity(capacity),
        m_keeps_duplicates(keeps_duplicates) {
    fill_with("karpos::row_index: clear slots", exec, m_arrays.slots, table().slots,
              constant<std::uint64_t>{slot_word<RowNumber>::empty});
  }

  /// Returns the number of rows that were indexed, or left out by a mask or because of their nulls.
  std::uint64_t end() const { return m_end; }
  /// Returns the number of rows in the index: all that are in a group, or one for each group.
  std::uint64_t size() const { return m_has_runs ? m_indexed : m_groups; }
  std::uint64_t groups() const { return m_groups; }
  bool keeps_duplicates() const { return m_keeps_duplicates; }
  slot_table<ExecSpace, RowNumber> table() const {
    return {m_arrays.slots, slots_for<ExecSpace>(m_capacity)};
  }
  row_groups<RowNumber> runs() const {
    return {m_arrays.group_of, m_arrays.begins, m_arrays.grouped, m_has_runs};
  }

  /// Indexes the next n rows, in memory of build_arrays(exec, n, keeps_duplicates(), bytes of
  /// partitioned_build).bytes. If duplicates are kept, all rows are indexed at once.
  /// group_memory(arrays) returns memory for the groups, if they need any: arrays.bytes without
  /// slot_bytes. Returns the number of new groups. Blocks.
  template <class Rows, class Members, class GroupMemory>
  std::uint64_t append(ExecSpace const& exec, Rows const& rows, std::uint64_t n,
                       Members const& members, std::byte* memory, GroupMemory const& group_memory,
                       bulk_strategy strategy = bulk_strategy::direct) {
    using by_partitions = partitioned_build<ExecSpace, Rows, RowNumber>;
    work const with(exec, n, m_keeps_duplicates, by_partitions::bytes(exec, n, strategy), memory);
    auto const place_groups = [&] {
      if (m_arrays.group_of == nullptr)
        m_arrays.place_groups(m_capacity, m_keeps_duplicates, group_memory(m_arrays));
    };
    std::uint64_t const found =
        compute_groups(exec, rows, members, n, with, place_groups, strategy);
    m_end += n;
    m_groups += found;
    m_has_runs = m_keeps_duplicates && m_indexed > m_groups;
    if (m_has_runs) group_rows(exec, n, with);
    exec.fence("karpos::row_index: built");
    return found;
  }

 private:
  /// Finds slots, groups and the first row of each group for the next n rows, and counts those that
  /// have a group. Returns the number of new groups. Waits.
  template <class Rows, class Members, class PlaceGroups>
  std::uint64_t compute_groups(ExecSpace const& exec, Rows const& rows, Members const& members,
                               std::uint64_t n, work const& with, PlaceGroups const& place_groups,
                               bulk_strategy strategy) {
    fill_words("karpos::row_index: clear", exec, with.repeated, 1, 0);
    RowNumber* first_of = with.first_of;
    bool is_split = false, is_repeated = false;
    auto const read_repeated = [&] {
      is_repeated = read_back(exec, with.repeated, "karpos::row_index: whether rows repeat") != 0;
      if (is_repeated || m_end + n < m_capacity) place_groups();
    };
    if constexpr (std::is_same_v<Members, everything>)
      is_split = try_claim(exec, rows, n, with, strategy, [&]() -> RowNumber* {
        read_repeated();
        if (m_keeps_duplicates) first_of = m_arrays.begins;
        return is_repeated ? first_of : nullptr;
      });
    if (!is_split) {
      claim(exec, rows, members, n, {first_of, with.repeated});
      read_repeated();
    }
    if (!is_repeated) {
      if (m_arrays.group_of != nullptr)
        device::loop_over(
            "karpos::row_index: number rows", exec, n,
            number_all<RowNumber>{m_end, m_groups, m_arrays.group_of, m_arrays.grouped});
      m_indexed += n;
      return n;
    }
    if (!is_split)
      device::loop_over("karpos::row_index: find first rows", exec, n,
                        load_first_rows<RowNumber>{m_arrays.slots, first_of});
    device::loop_over("karpos::row_index: mark first rows", exec, with.firsts.words,
                      mark_first_rows<RowNumber>{first_of, m_end, n, with.firsts});
    std::uint64_t const found = with.firsts.rank("karpos::row_index: number first rows", exec);
    m_indexed += device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::row_index: number groups", exec, n,
        number_groups<RowNumber>{first_of, m_end, m_groups, with.firsts, m_arrays.group_of,
                                 m_arrays.grouped});
    return found;
  }

  /// Claims slots for the next n rows, directly. Asynchronous.
  template <class Rows, class Members>
  void claim(ExecSpace const& exec, Rows const& rows, Members const& members, std::uint64_t n,
             claimed_slots<RowNumber> const& to) const {
    constexpr int distance = tuning<ExecSpace>::prefetch_distance;
    device::held_by_loop<ExecSpace, Rows> held = device::for_loop<ExecSpace>(rows);
    using body = claim_slots<distance, decltype(held), decltype(held),
                             device::held_by_loop<ExecSpace, Members>, ExecSpace, RowNumber>;
    device::for_each_staged<distance>(
        "karpos::row_index: claim slots", exec, n,
        body{{held, held, m_end, table()}, device::for_loop<ExecSpace>(members), to});
  }
  /// Claims slots for the next n rows by partitions, if they are split so, and writes first rows to
  /// first_of(), which is called after the claims, and returns null if rows do not repeat.
  template <class Rows, class FirstOf>
  bool try_claim(ExecSpace const& exec, Rows const& rows, std::uint64_t n, work const& with,
                 bulk_strategy strategy, FirstOf const& first_of) const {
    using by_partitions = partitioned_build<ExecSpace, Rows, RowNumber>;
    if constexpr (by_partitions::is_possible)
      return by_partitions::try_claim(exec, rows, m_end, n, table(), with, strategy, first_of);
    else
      return false;
  }

  /// Puts the rows of each group side by side, in order. Asynchronous.
  void group_rows(ExecSpace const& exec, std::uint64_t n, work const& with) const {
    bool const all = m_indexed == n;
    int const most = work::digit_bits(n),
              bits = Kokkos::max(static_cast<int>(std::bit_width(m_groups - all)), 1);
    int const passes = (bits + most - 1) / most, each = (bits + passes - 1) / passes;
    pair *to = with.sorted, *from = reinterpret_cast<pair*>(m_arrays.begins);
    if (passes % 2 == 0) std::swap(from, to);
    for (int pass = 0; pass < passes; ++pass, std::swap(from, to)) {
      digit_of_group<RowNumber> const digit{pass * each, (std::uint32_t(1) << each) - 1};
      unmanaged<RowNumber const> const keys(m_arrays.group_of, n);
      using held = device::held_by_loop<ExecSpace, unmanaged<RowNumber const>>;
      using source = partition::keys_and_values<pair, held, row_numbers>;
      if (pass == 0)
        split(exec, source(device::for_loop<ExecSpace>(keys), {}), to, digit, with);
      else
        split(exec, partition::rows_of_array<source>(from, n), to, digit, with);
    }
    device::loop_over(
        "karpos::row_index: write runs", exec, m_indexed,
        write_runs<RowNumber>{from, m_arrays.begins, m_arrays.grouped, m_indexed, m_groups});
  }
  /// Runs one pass of the sort.
  template <class Source>
  static void split(ExecSpace const& exec, Source const& source, pair* to,
                    digit_of_group<RowNumber> const& digit, work const& with) {
    std::uint64_t const digits = std::uint64_t(digit.mask) + 1;
    partition::split_by_counting(
        exec, source, digit, partition::plan<ExecSpace, pair>(exec, source.size(), digits, true),
        with.partition_workspace, to, with.digits);
  }

  arrays<ExecSpace, RowNumber> m_arrays;
  std::uint64_t m_capacity;  // rows
  bool m_keeps_duplicates;
  bool m_has_runs = false;  // without runs, each group has one row in the index
  std::uint64_t m_end = 0;
  std::uint64_t m_indexed = 0;  // rows in a group
  std::uint64_t m_groups = 0;
};

}  // namespace karpos::detail::row_index
