// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/ranking/build_sorted_lists/run.hpp"
#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/sorted_lists.hpp"

namespace karpos {

/// Makes sorted lists of a table of scores, float or double, of any layout: table(object, list).
/// List i has all objects, by falling table(object, i); equal scores are ordered by rising object.
///
/// Returns: lists in memory of their own, with dense ids of 32 bits, the same on every execution
///   space. A score of -0.0 becomes 0.0. Blocks.
/// Complexity: GPUs sort one list after another: for float by a radix sort of 64-bit words, for
///   double by a comparison sort of pairs. CPU threads sort one list each, by radix sort, so
///   more threads than lists do not help.
/// Requires: the table is not written meanwhile.
/// Memory: the lists, 8 bytes for each float and 12 for each double, in the table's memory space.
///   Meanwhile on GPUs one list's entries, 8 bytes each for float and 16 for double, and about as
///   much for the sort; on CPUs twice the entries of one list for each thread that sorts one.
/// Throws: std::invalid_argument if a score is NaN (the first object with one and its list are
///   named), for more than 32 lists, or for more than 2^32 - 64 objects; allocation_error.
template <execution_space ExecSpace, class Table>
  requires(Kokkos::is_view_v<Table> && Table::rank() == 2)
auto build_sorted_lists(ExecSpace const& exec, Table const& table) {
  using score = typename Table::non_const_value_type;
  using memory = typename Table::memory_space;
  static_assert(std::is_same_v<score, float> || std::is_same_v<score, double>,
                "karpos: scores of sorted lists are float or double: copy integers to a view of "
                "double, which holds those up to 2^53");
  using ids_view = Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, memory>;
  using scores_view = Kokkos::View<score**, Kokkos::LayoutRight, memory>;
  detail::require_reachable<ExecSpace, Table>();
  detail::user_call const call("build_sorted_lists");
  detail::build_sorted_lists::require_size(table);
  detail::build_sorted_lists::require_no_nan(exec, table);
  std::uint64_t const n = table.extent(0), lists = table.extent(1);
  std::string const caller = "karpos::build_sorted_lists: ";
  auto const ids = detail::allocated_array<ids_view>(exec, caller + "ids", lists, n);
  auto const scores = detail::allocated_array<scores_view>(exec, caller + "scores", lists, n);
  detail::build_sorted_lists::sort_lists(exec, table, ids, scores);
  return sorted_lists<std::uint32_t, score, memory>(ids, scores).dense(n);
}

}  // namespace karpos
