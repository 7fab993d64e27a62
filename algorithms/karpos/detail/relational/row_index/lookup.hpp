// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/outcome.hpp"

// Answers of an index of rows, given the first row of a group.

namespace karpos::detail::row_index {

/// The groups of equal rows, and their runs. If there are no runs, a group's run is its first row:
/// every row is different, or the first row stands for its equals. If group_of and grouped are
/// null, row i is group i.
template <class RowNumber>
struct row_groups {
  RowNumber const *group_of, *begins, *grouped;
  bool has_runs;

  KOKKOS_FUNCTION RowNumber id(RowNumber row) const {
    return group_of == nullptr ? row : group_of[row];
  }
  /// Returns row number i in the order of groups.
  KOKKOS_FUNCTION RowNumber row(std::uint64_t i) const {
    return grouped == nullptr ? static_cast<RowNumber>(i) : grouped[i];
  }
  KOKKOS_FUNCTION RowNumber first_of(std::uint64_t group) const {
    return row(has_runs ? begins[group] : group);
  }
  KOKKOS_FUNCTION RowNumber count(RowNumber first) const {
    if (!has_runs) return 1;
    RowNumber const g = group_of[first];
    return begins[g + 1] - begins[g];
  }
  template <class F>
  KARPOS_STEP_FUNCTION void for_each(RowNumber first, F const& f) const {
    if (!has_runs) {
      f(first);
      return;
    }
    RowNumber const g = group_of[first];
    for (RowNumber i = begins[g]; i < begins[g + 1]; ++i) f(grouped[i]);
  }
};

/// Returns the groups that an index keeps, for joins.
struct index_access {
  template <class Index>
  static auto const& groups(Index const& index) {
    return index.m_groups;
  }
};

// Answers that bulk lookups write, as presence and value_or (common/bulk_arguments.hpp).
template <class RowNumber>
struct count_of {
  row_groups<RowNumber> groups;
  KOKKOS_FUNCTION RowNumber operator()(found<RowNumber> const& first) const {
    return first ? groups.count(*first) : RowNumber(0);
  }
};
template <class RowNumber>
struct group_id_of {
  row_groups<RowNumber> groups;
  KOKKOS_FUNCTION RowNumber operator()(found<RowNumber> const& first) const {
    return first ? groups.group_of[*first] : ~RowNumber(0);
  }
};

/// Writes an answer for every query.
template <int Distance, class Rows, class Queries, class ExecSpace, class RowNumber, class Answer,
          class Out>
struct look_up : slot_search<Distance, device::access::frozen,
                             look_up<Distance, Rows, Queries, ExecSpace, RowNumber, Answer, Out>,
                             Rows, Queries, ExecSpace, RowNumber> {
  Answer answer;
  Out out;

  KOKKOS_FUNCTION bool is_searched(std::uint64_t) const { return true; }
  KOKKOS_FUNCTION void on_excluded(std::uint64_t i) const { out(i) = answer(found<RowNumber>{}); }
  KOKKOS_FUNCTION bool on_miss(bool continues, std::uint64_t i, std::uint64_t,
                               std::uint64_t) const {
    write_unless<Distance>(continues, out(i), answer(found<RowNumber>{}));
    return !continues;
  }
  KOKKOS_FUNCTION void on_match(std::uint64_t i, std::uint64_t slot) const {
    std::uint64_t const w = device::load_frozen(this->table.words + slot);
    out(i) = answer(found<RowNumber>{true, slot_word<RowNumber>::row_of(w)});
  }
};

/// Copies the group id of each indexed row; copy_first_rows copies the first row of each group.
template <class RowNumber, class Out>
struct copy_group_ids {
  row_groups<RowNumber> groups;
  Out out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    out(i) = groups.id(static_cast<RowNumber>(i));
  }
};
template <class RowNumber, class Out>
struct copy_first_rows {
  row_groups<RowNumber> groups;
  Out out;
  KOKKOS_FUNCTION void operator()(std::uint64_t g) const { out(g) = groups.first_of(g); }
};

/// Looks one row up, in a kernel.
template <class Rows, class ExecSpace, class RowNumber>
KOKKOS_FUNCTION found<RowNumber> find_row(Rows const& rows,
                                          slot_table<ExecSpace, RowNumber> const& table,
                                          typename Rows::row_type const& query) {
  using code = row_code<Rows, RowNumber>;
  if (!code::can_equal(rows, query)) return {};
  std::uint64_t const of_query = code::of(rows, query);
  slot_path p = table.home(code::hash(of_query), of_query);
  for (;;) {
    auto const a = table.template probe_bucket<device::access::frozen, code>(p);
    if (a.ended) return {};
    p.slot = a.slot;
    if (!a.has_tag) continue;
    RowNumber const row = slot_word<RowNumber>::row_of(device::load_frozen(table.words + p.slot));
    if (code::is_exact || rows.equal(rows[row], query)) return {true, row};
    p.slot = table.wrap(p.slot + 1);
  }
}

}  // namespace karpos::detail::row_index
