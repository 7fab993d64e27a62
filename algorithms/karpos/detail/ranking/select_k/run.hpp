// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/ranking/select_k/blocks.hpp"
#include "karpos/detail/ranking/select_k/radix.hpp"
#include "karpos/detail/ranking/select_k/rows.hpp"
#include "karpos/detail/ranking/select_k/teams.hpp"
#include "karpos/detail/ranking/select_k/tuning.hpp"

// The host driver of select_k: checks its arguments, and chooses between selections.
//
//   blocks   | 3 9 1 … | 7 2 8 … | …    CPUs, small k: each thread reads a block, and keeps its k
//   buffers  | 9 3 |   | 8 7 |          largest (blocks.hpp); then the k largest of all buffers
//   digits   | 12 bits | 12 bits | …    otherwise: counts the values of a digit, finds that of the
//                                       k-th largest element, and goes on with the elements that
//                                       share this prefix; then collects the selected (radix.hpp)
//   rows     | row | row | row | …      many rows: a thread of a CPU reads a row as if it were a
//                                       block; on a GPU a team reads one (teams.hpp). All teams
//                                       share a long row, if few of its elements are selected.
// Tests: select_k.

namespace karpos::detail::select_k {

/// Writes the selected elements of a row.
template <class Rows, class Selected, class Results>
struct write_selected {
  Rows rows;
  std::uint64_t row;
  Selected selected;
  Results results;

  KOKKOS_FUNCTION void operator()(std::uint64_t rank) const {
    std::uint64_t const i = selected(rank).index;
    results.write(row, rank, i, rows.row(row)[i * rows.stride]);
  }
};

template <class ExecSpace, class Scores, class Indices, class Values>
constexpr void require_types() {
  using score = typename Scores::non_const_value_type;
  using index = typename Indices::non_const_value_type;
  static_assert(is_score<score>,
                "karpos: elements to select are float, double or integers of 32 or 64 bits");
  static_assert(std::is_same_v<score, typename Values::non_const_value_type>,
                "karpos: selected values come in a view of the type of the scores");
  static_assert(std::is_integral_v<index> && (sizeof(index) == 4 || sizeof(index) == 8),
                "karpos: selected indices come in a view of integers of 32 or 64 bits");
  require_reachable<ExecSpace, Scores, Indices, Values>();
}

/// Throws std::invalid_argument unless k of `elements` can be selected from rows of at most
/// `longest`, and extents of results are 0 or at least k.
template <class Indices>
void require_selectable(char const* units, std::uint64_t k, std::uint64_t elements,
                        std::uint64_t longest, std::uint64_t indices, std::uint64_t values) {
  if (k > elements)
    reject("more elements to select than there are",
           std::to_string(k) + " of " + std::to_string(elements), "select at most all");
  if (indices != 0) require_length("the view of indices", indices, k, units);
  if (values != 0) require_length("the view of values", values, k, units);
  if (indices != 0 && longest > 0)
    require_holds<typename Indices::non_const_value_type>("the view of indices", longest - 1);
}
/// Throws std::invalid_argument if a view of results is not empty, but has fewer rows.
template <class Indices, class Values>
void require_rows_of_results(std::uint64_t rows, Indices const& indices, Values const& values) {
  if (indices.extent(1) != 0) require_length("the view of indices", indices.extent(0), rows);
  if (values.extent(1) != 0) require_length("the view of values", values.extent(0), rows);
}

template <class Indices, class Values>
using results_for =
    row_results<typename Indices::non_const_value_type, typename Values::non_const_value_type>;
template <class Indices, class Values>
results_for<Indices, Values> results_of_row(Indices const& indices, Values const& values) {
  return {indices.extent(0) == 0 ? nullptr : indices.data(), 0, indices.stride(0),
          values.extent(0) == 0 ? nullptr : values.data(),   0, values.stride(0)};
}
template <class Indices, class Values>
results_for<Indices, Values> results_of_rows(Indices const& indices, Values const& values) {
  return {indices.extent(1) == 0 ? nullptr : indices.data(), indices.stride(0), indices.stride(1),
          values.extent(1) == 0 ? nullptr : values.data(),   values.stride(0),  values.stride(1)};
}

/// Writes the k selected elements of a row, in no particular order. Blocks.
template <class ExecSpace, class Scores, class Selected>
void select(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
            Selected const& selected) {
  if constexpr (tuning<ExecSpace>::has_private_buffers) {
    if (can_use_blocks(exec, scores.extent(0), k)) {
      select_by_blocks(exec, scores, k, selected);
      return;
    }
  }
  select_by_radix(exec, scores, k, selected);
}

/// Selects from row r, of `size` elements at `row`, by the whole machine. Blocks.
template <class ExecSpace, class Rows, class Results>
void select_from_row(ExecSpace const& exec, Rows const& rows, std::uint64_t r,
                     typename Rows::score const* row, std::uint64_t size, std::uint64_t k,
                     Results const& results, bool sorted) {
  using score = typename Rows::score;
  using memory = typename ExecSpace::memory_space;
  using selected_view = Kokkos::View<ranked<radix_key<score>>*, memory>;
  if (Kokkos::min(k, size) == 0) return;
  Kokkos::View<score const*, Kokkos::LayoutStride, memory, Kokkos::MemoryUnmanaged> const scores(
      row, Kokkos::LayoutStride(size, rows.stride));
  auto const selected =
      allocated_array<selected_view>(exec, "karpos::select_k: selected", Kokkos::min(k, size));
  select(exec, scores, selected.extent(0), selected);
  if (sorted) Kokkos::sort(exec, selected, ranks_higher{});
  Kokkos::parallel_for("karpos::select_k: write", index_range(exec, selected.extent(0)),
                       write_selected<Rows, selected_view, Results>{rows, r, selected, results});
  exec.fence("karpos::select_k: before the selected elements are freed");
}

/// Selects from the rows that are longer than `longest`, one after the other. Blocks.
template <class ExecSpace, class Rows, class Results>
void select_long_rows(ExecSpace const& exec, Rows const& rows, std::uint64_t k,
                      std::uint64_t longest, Results const& results, bool sorted) {
  if constexpr (Rows::is_uniform) {
    if (rows.length <= longest) return;
    for (std::uint64_t r = 0; r < rows.rows; ++r)
      select_from_row(exec, rows, r, rows.row(r), rows.length, k, results, sorted);
  } else {
    using offset_view = Kokkos::View<std::remove_pointer_t<decltype(rows.offsets)>*,
                                     typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>;
    auto const on_host = Kokkos::create_mirror_view_and_copy(
        Kokkos::HostSpace(), offset_view(rows.offsets, rows.rows + 1));
    for (std::uint64_t r = 0; r < rows.rows; ++r) {
      auto const begin = static_cast<std::uint64_t>(on_host(r));
      std::uint64_t const size = static_cast<std::uint64_t>(on_host(r + 1)) - begin;
      if (size > longest)
        select_from_row(exec, rows, r, rows.scores + begin * rows.stride, size, k, results, sorted);
    }
  }
}

/// Returns the bytes of memory that a selection from rows allocates while it runs, at most.
template <class Score, class ExecSpace>
std::size_t rows_bytes(ExecSpace const& exec, std::uint64_t rows, std::uint64_t elements,
                       std::uint64_t longest, std::uint64_t k) {
  using bits = radix_key<Score>;
  k = Kokkos::min(k, longest);
  if (k == 0 || rows == 0) return 0;
  std::size_t const selected = k * sizeof(ranked<bits>);
  if constexpr (tuning<ExecSpace>::has_private_buffers) {
    row_plan const plan = plan_rows(exec, rows, elements, k);
    std::size_t const short_rows = plan.threads * plan.buffer * sizeof(ranked<bits>);
    if (longest <= plan.longest) return short_rows;
    return Kokkos::max(short_rows,
                       selected + (can_use_blocks(exec, longest, k) ? blocks_bytes<bits>(exec, k)
                                                                    : radix_bytes<bits>()));
  } else {
    auto const bytes_of = [&](std::uint64_t of_row, bool is_uniform) {
      return can_use_teams<bits>(of_row, k)
                 ? team_bytes<bits>(windows_for(exec, elements, of_row, k, is_uniform), k)
                 : selected + radix_bytes<bits>();
    };
    // Rows between offsets are cut as if one of them had all elements.
    std::size_t const by_offsets = rows > 1 ? bytes_of(elements, false) : 0;
    return Kokkos::max(bytes_of(longest, elements == rows * longest), by_offsets);
  }
}

/// Selects k elements of each row, or all of a shorter one.
template <class ExecSpace, class Rows, class Results>
void select_from_rows(ExecSpace const& exec, Rows const& rows, std::uint64_t k,
                      Results const& results, bool sorted) {
  if (k == 0 || rows.rows == 0 || rows.elements() == 0) return;
  if constexpr (tuning<ExecSpace>::has_private_buffers) {
    row_plan const plan = plan_rows(exec, rows.rows, rows.elements(), k);
    select_short_rows(exec, rows, k, plan, results, sorted);
    select_long_rows(exec, rows, k, plan.longest, results, sorted);
  } else if (can_use_teams<radix_key<typename Rows::score>>(rows.longest(), k)) {
    auto const windows = windows_for(exec, rows.elements(), rows.longest(), k, Rows::is_uniform);
    select_by_teams(exec, rows, windows, k, results, sorted);
  } else {
    select_long_rows(exec, rows, k, 0, results, sorted);
  }
}

}  // namespace karpos::detail::select_k
