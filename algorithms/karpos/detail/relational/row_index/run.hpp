// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/index_range.hpp"
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
//   group_of   | 0 | 1 |   | 2 |   |   |     number_first_rows: a scan
//   group_of   | 0 | 1 | 0 | 2 | 1 | 0 |     number_others
//   grouped    | 0 2 5 | 1 4 | 3 |           a stable sort of row numbers by group id: passes of a
//   begins     | 0     | 3   | 5 | 6        stable partition (partition/split.hpp)
//
// Group ids and the order of a run do not depend on which thread came first. A frequent row costs
// no more than others: a row that finds a lower row in its slot writes no word that other threads
// use. Rows that are appended, a batch, go the same way as far as group_of. Their numbers are
// higher than those of earlier rows, and new groups get higher ids than earlier ones. If all rows
// of a batch are different, nothing is left to be found after the first step. Many rows of one
// column claim slots by partitions on GPUs (by_partitions.hpp). A lookup finds the slot of an equal
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

/// Numbers the groups of a batch by a scan: writes each first row's group, and each group's first.
template <class RowNumber>
struct number_first_rows {
  RowNumber const* first_of;
  std::uint64_t begin, groups;  // begin: first row of the batch; groups: of rows before it
  RowNumber *group_of, *grouped;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& before, bool last) const {
    std::uint64_t const row = begin + i;
    if (first_of[i] != row) return;
    if (last) {
      group_of[row] = static_cast<RowNumber>(groups + before);
      grouped[groups + before] = static_cast<RowNumber>(row);
    }
    ++before;
  }
};

/// Writes the group of each other row of a batch. Counts the rows that have a group.
template <class RowNumber>
struct number_others {
  RowNumber const* first_of;
  std::uint64_t begin;
  RowNumber* group_of;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const {
    RowNumber const first = first_of[i];
    count += first != none<RowNumber>;
    if (first == none<RowNumber>)
      group_of[begin + i] = first;
    else if (first != begin + i)
      group_of[begin + i] = group_of[first];
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
  /// arrays(capacity, keeps_duplicates).bytes.
  groups_of_rows(ExecSpace const& exec, std::uint64_t capacity, bool keeps_duplicates,
                 std::byte* memory)
      : m_arrays(capacity, keeps_duplicates, memory),
        m_slots(slots_for(capacity)),
        m_keeps_duplicates(keeps_duplicates) {
    fill_with("karpos::row_index: clear slots", exec, m_arrays.slots, m_slots,
              constant<std::uint64_t>{slot_word<RowNumber>::empty});
  }

  /// Returns the number of rows that were indexed, or left out by a mask or because of their nulls.
  std::uint64_t end() const { return m_end; }
  /// Returns the number of rows in the index: all that are in a group, or one for each group.
  std::uint64_t size() const { return m_has_runs ? m_indexed : m_groups; }
  std::uint64_t groups() const { return m_groups; }
  bool keeps_duplicates() const { return m_keeps_duplicates; }
  slot_table<ExecSpace, RowNumber> table() const { return {m_arrays.slots, m_slots}; }
  row_groups<RowNumber> runs() const {
    return {m_arrays.group_of, m_arrays.begins, m_arrays.grouped, m_has_runs};
  }

  /// Indexes the next n rows, in memory of build_arrays(exec, n, keeps_duplicates(), bytes of
  /// partitioned_build).bytes. If duplicates are kept, all rows are indexed at once. Returns the
  /// number of new groups. Blocks.
  template <class Rows, class Members>
  std::uint64_t append(ExecSpace const& exec, Rows const& rows, std::uint64_t n,
                       Members const& members, std::byte* memory,
                       bulk_strategy strategy = bulk_strategy::direct) {
    using by_partitions = partitioned_build<ExecSpace, Rows, RowNumber>;
    work const with(exec, n, m_keeps_duplicates, by_partitions::bytes(exec, n, strategy), memory);
    std::uint64_t const found = compute_groups(exec, rows, members, n, with, strategy);
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
  template <class Rows, class Members>
  std::uint64_t compute_groups(ExecSpace const& exec, Rows const& rows, Members const& members,
                               std::uint64_t n, work const& with, bulk_strategy strategy) {
    fill_words("karpos::row_index: clear", exec, with.repeated, 1, 0);
    RowNumber* const first_of = with.first_of;
    bool has_first_rows = false;
    if constexpr (std::is_same_v<Members, everything>)
      has_first_rows = try_claim(exec, rows, n, with, strategy);
    if (!has_first_rows) claim(exec, rows, members, n, {first_of, with.repeated});
    if (read_back(exec, with.repeated, "karpos::row_index: whether rows repeat") == 0) {
      device::loop_over(
          "karpos::row_index: number rows", exec, n,
          number_all<RowNumber>{m_end, m_groups, m_arrays.group_of, m_arrays.grouped});
      m_indexed += n;
      return n;
    }
    if (!has_first_rows)
      device::loop_over("karpos::row_index: find first rows", exec, n,
                        load_first_rows<RowNumber>{m_arrays.slots, first_of});
    std::uint64_t found = 0;
    Kokkos::parallel_scan("karpos::row_index: number first rows", index_range(exec, n),
                          number_first_rows<RowNumber>{first_of, m_end, m_groups, m_arrays.group_of,
                                                       m_arrays.grouped},
                          found);
    m_indexed += device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::row_index: number others", exec, n,
        number_others<RowNumber>{first_of, m_end, m_arrays.group_of});
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
  /// Claims slots for the next n rows by partitions, if they are split so, and finds first rows.
  template <class Rows>
  bool try_claim(ExecSpace const& exec, Rows const& rows, std::uint64_t n, work const& with,
                 bulk_strategy strategy) const {
    using by_partitions = partitioned_build<ExecSpace, Rows, RowNumber>;
    if constexpr (by_partitions::is_possible)
      return by_partitions::try_claim(exec, rows, m_end, n, table(), with, strategy);
    else
      return false;
  }

  /// Puts the rows of each group side by side, in order. Asynchronous.
  void group_rows(ExecSpace const& exec, std::uint64_t n, work const& with) const {
    int const most = work::digit_bits(n), bits = static_cast<int>(std::bit_width(m_groups));
    int const passes = (bits + most - 1) / most, each = (bits + passes - 1) / passes;
    pair *to = with.sorted, *from = with.sorted_alternate;
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

  arrays<RowNumber> m_arrays;
  std::uint64_t m_slots;
  bool m_keeps_duplicates;
  bool m_has_runs = false;  // without runs, each group has one row in the index
  std::uint64_t m_end = 0;
  std::uint64_t m_indexed = 0;  // rows in a group
  std::uint64_t m_groups = 0;
};

}  // namespace karpos::detail::row_index
