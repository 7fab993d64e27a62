// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/relational/join/matches.hpp"
#include "karpos/device/atomics.hpp"

// Right rows that have a match, or none. A match sets a mark: at the begin of its run or, if a
// predicate decides too, at the right row itself.

namespace karpos::detail::join {

/// Sets a mark. Many threads mark frequent rows: a thread that reads a mark stores nothing.
KOKKOS_INLINE_FUNCTION void mark(std::uint32_t* at) {
  if (device::load_relaxed(at) == 0) device::store_relaxed(at, std::uint32_t(1));
}

template <class RowNumber>
struct mark_runs {
  runs<RowNumber> of;
  std::uint32_t* marks;
  KOKKOS_FUNCTION void operator()(std::uint64_t left) const {
    if (of.has(left)) join::mark(marks + of.begins[left]);
  }
};
template <class RowNumber>
struct mark_accepted {
  accepted_matches<RowNumber> matches;
  std::uint64_t count;
  std::uint32_t* marks;
  KOKKOS_FUNCTION void operator()(std::uint64_t word) const {
    std::uint64_t const accepted = matches.bits[word];
    if (accepted == 0) return;
    matches.candidates.for_each(64 * word, Kokkos::min(64 * word + 64, count),
                                [&](std::uint64_t c, std::uint64_t left, std::uint64_t k) {
                                  if (accepted >> c % 64 & 1)
                                    join::mark(marks + matches.of.right(left, k));
                                });
  }
};

/// Chooses right rows that are matched, or that are not. A right row without a group either holds a
/// null that equals nothing, and counts as unmatched, or was excluded by the mask, and does not
/// count.
template <class Rows, class RowNumber>
struct right_row_filter {
  Rows rows;
  row_index::row_groups<RowNumber> groups;
  std::uint32_t const* marks;
  bool marks_runs, matched;

  KOKKOS_FUNCTION bool operator()(std::uint64_t right) const {
    RowNumber const group = groups.group_of[right];
    if (group == RowNumber(~RowNumber(0))) return !matched && !rows.can_equal(rows[right]);
    if (!marks_runs) return (marks[right] != 0) == matched;
    return (marks[groups.has_runs ? groups.begins[group] : group] != 0) == matched;
  }
  template <class Change>
  auto transformed(Change const& change) const {
    return right_row_filter<decltype(change(rows)), RowNumber>{change(rows), groups, marks,
                                                               marks_runs, matched};
  }
};

template <class Chosen>
struct count_chosen {
  Chosen is_chosen;
  KOKKOS_FUNCTION void operator()(std::uint64_t right, std::uint64_t& n) const {
    n += is_chosen(right);
  }
};
/// Calls emit(row of the output, no_row, right row) for the chosen rows, in order. They are rows of
/// the output from `begin` on.
template <class Chosen, class Emit>
struct emit_chosen {
  Chosen is_chosen;
  std::uint64_t begin;
  Emit emit;
  KOKKOS_FUNCTION void operator()(std::uint64_t right, std::uint64_t& place, bool final) const {
    if (!is_chosen(right)) return;
    if (final) emit(begin + place, no_row, right);
    ++place;
  }
};

}  // namespace karpos::detail::join
