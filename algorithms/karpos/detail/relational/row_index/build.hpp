// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/word_probing.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/relational/row_index/memory.hpp"
#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/detail/relational/row_index/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/key_value.hpp"
#include "karpos/outcome.hpp"
#include "karpos/partition.hpp"

// Builds an index of rows:
//
//   rows       | a | b | a | c | b | a |     claim_slots: a row claims a slot or finds its equal
//   slots      | . | c:3 | . | a:0 | b:1 | . |                      the lowest row stays
//   first_of   | 0 | 1 | 0 | 3 | 1 | 0 |     load_first_rows: what the row's slot holds now
//   group_of   | 0 | 1 |   | 2 |   |   |     number_first_rows: a scan
//   group_of   | 0 | 1 | 0 | 2 | 1 | 0 |     number_others
//   grouped    | 0 2 5 | 1 4 | 3 |           a stable sort of row numbers by group id, in passes of
//   begins     | 0     | 3   | 5 | 6                                karpos::partition
//
// Group ids and the order of a run do not depend on which thread came first. A frequent row costs
// no more than others: a row that finds a lower row in its slot writes no word that other threads
// use. Rows that are appended, a batch, go the same way as far as group_of: their numbers are
// higher, and so are the ids of their groups.

namespace karpos::detail::row_index {

/// Stands for no slot, no row, and no group.
template <class RowNumber>
inline constexpr RowNumber none = static_cast<RowNumber>(~RowNumber(0));

/// Claims a slot for row begin + i of a batch, or finds the slot of its equals, which keeps the
/// lowest of them.
template <int Distance, class Rows, class Members, class ExecSpace, class RowNumber>
struct claim_slots : slot_search<Distance, device::access::shared,
                                 claim_slots<Distance, Rows, Members, ExecSpace, RowNumber>, Rows,
                                 Rows, ExecSpace, RowNumber> {
  using word = slot_word<RowNumber>;
  Members members;
  RowNumber* slot_of;

  KOKKOS_FUNCTION bool is_searched(std::uint64_t i) const { return members(this->begin + i); }
  KOKKOS_FUNCTION void on_excluded(std::uint64_t i) const { slot_of[i] = none<RowNumber>; }
  /// Claims the first empty slot of the bucket. Returns false if another thread has stored a row
  /// that may be equal there meanwhile: then the search goes on.
  KOKKOS_FUNCTION bool on_miss(bool continues, std::uint64_t i, slot_path const& p) const {
    if (continues) return false;
    auto const& in = this->table;
    std::uint64_t const tag = word::tag_of(p.hash), end = in.bucket_of(p.slot) + in.bucket_slots;
    word_probing::table<std::uint64_t> const rest{in.words + p.slot, end - p.slot, word::empty};
    auto const claimed =
        rest.insert_or_find(0, word::make(tag, this->begin + i), has_tag<RowNumber>{tag});
    if (claimed.ended != outcome::inserted) return false;
    slot_of[i] = static_cast<RowNumber>(p.slot + claimed.slot);
    return true;
  }
  KOKKOS_FUNCTION void on_match(std::uint64_t i, std::uint64_t slot) const {
    slot_of[i] = static_cast<RowNumber>(slot);
    std::uint64_t* const at = this->table.words + slot;
    std::uint64_t const row = this->begin + i;
    std::uint64_t const held = device::load_relaxed(at);
    // The slot keeps its tag, so that words of lower rows are lower words.
    if (row < word::row_of(held)) device::fetch_min(at, word::make(held & word::low_mask, row));
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

/// Numbers the groups of a batch by a scan: writes the group of each first row, and the first row
/// of each group.
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
  KOKKOS_FUNCTION std::uint32_t operator()(key_value<RowNumber, RowNumber> const& r) const {
    return (*this)(r.key);
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

/// Numbers of rows that are in a group, and of groups.
struct counts {
  std::uint64_t rows, groups;
};

/// A build with its memory.
template <class ExecSpace, class RowNumber>
class build {
  using memory_space = typename ExecSpace::memory_space;
  using pair = key_value<RowNumber, RowNumber>;
  template <class T>
  using unmanaged = Kokkos::View<T*, memory_space, Kokkos::MemoryUnmanaged>;

 public:
  build(ExecSpace const& exec, arrays<RowNumber> const& to,
        build_arrays<ExecSpace, RowNumber> const& with)
      : m_exec(exec),
        m_to(to),
        m_with(with) {}

  /// Finds slots, groups and the first row of each group for rows [begin, end); `groups` groups
  /// have rows before them. Returns how many of these rows have a group, and how many groups are
  /// new. Waits.
  template <class Rows, class Members>
  counts compute_groups(Rows const& rows, Members const& members, std::uint64_t begin,
                        std::uint64_t end, std::uint64_t groups) const {
    std::uint64_t const n = end - begin;
    RowNumber* const first_of = m_with.first_of;
    constexpr int distance = tuning<ExecSpace>::prefetch_distance;
    device::held_by_loop<ExecSpace, Rows> held = device::for_loop<ExecSpace>(rows);
    using claim = claim_slots<distance, decltype(held), device::held_by_loop<ExecSpace, Members>,
                              ExecSpace, RowNumber>;
    device::for_each_staged<distance>(
        "karpos::row_index: claim slots", m_exec, n,
        claim{{held, held, begin, {m_to.slots, slots_for(rows.size())}},
              device::for_loop<ExecSpace>(members),
              first_of});
    device::loop_over("karpos::row_index: find first rows", m_exec, n,
                      load_first_rows<RowNumber>{m_to.slots, first_of});
    counts c{};
    Kokkos::parallel_scan(
        "karpos::row_index: number first rows", index_range(m_exec, n),
        number_first_rows<RowNumber>{first_of, begin, groups, m_to.group_of, m_to.grouped},
        c.groups);
    c.rows = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::row_index: number others", m_exec, n,
        number_others<RowNumber>{first_of, begin, m_to.group_of});
    return c;
  }

  /// Puts the rows of each group side by side, in order. Asynchronous.
  void group_rows(std::uint64_t n, counts const& c) const {
    int const most = m_with.digit_bits(n), bits = static_cast<int>(std::bit_width(c.groups));
    int const passes = (bits + most - 1) / most, each = (bits + passes - 1) / passes;
    pair *to = m_with.sorted, *from = m_with.sorted_alternate;
    for (int pass = 0; pass < passes; ++pass, std::swap(from, to)) {
      digit_of_group<RowNumber> const digit{pass * each, (std::uint32_t(1) << each) - 1};
      if (pass == 0)
        split(unmanaged<RowNumber const>(m_to.group_of, n), to, digit, row_numbers{});
      else
        split(unmanaged<pair const>(from, n), to, digit);
    }
    device::loop_over("karpos::row_index: write runs", m_exec, c.rows,
                      write_runs<RowNumber>{from, m_to.begins, m_to.grouped, c.rows, c.groups});
  }

 private:
  /// Runs one pass of the sort. Numbers: row_numbers in the first pass.
  template <class Keys, class... Numbers>
  void split(Keys const& keys, pair* to, digit_of_group<RowNumber> const& digit,
             Numbers const&... numbers) const {
    karpos::partition(m_exec, keys, numbers..., unmanaged<pair>(to, keys.extent(0)),
                      unmanaged<std::uint64_t>(m_with.digits, std::uint64_t(digit.mask) + 2), digit,
                      partition_options{.stable = true,
                                        .workspace = {m_with.partition_workspace,
                                                      m_with.partition_workspace_bytes}});
  }

  ExecSpace m_exec;
  arrays<RowNumber> m_to;
  build_arrays<ExecSpace, RowNumber> m_with;
};

}  // namespace karpos::detail::row_index
