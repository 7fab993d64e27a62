// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/detail/ranking/select_k/blocks.hpp"
#include "karpos/detail/ranking/select_k/radix.hpp"
#include "karpos/detail/ranking/select_k/run.hpp"
#include "karpos/detail/ranking/select_k/tuning.hpp"

namespace karpos {

/// Options of a selection.
struct select_k_options {
  /// Sorts the results, the largest element first. Off: they come in no particular order.
  bool sorted = true;
};

/// Returns the bytes that select_k takes, while it runs, for k of `size` elements of type Score.
/// On GPUs the sort of the k selected elements takes about as much as they do; it is not counted.
template <class Score, execution_space ExecSpace>
std::size_t select_k_bytes(ExecSpace const& exec, std::uint64_t size, std::uint64_t k) {
  using namespace detail::select_k;
  using bits = detail::radix_key<Score>;
  if (k == 0) return 0;
  std::size_t const selected = k * sizeof(detail::ranked<bits>);
  if constexpr (tuning<ExecSpace>::has_private_buffers)
    if (can_use_blocks(exec, size, k)) return selected + blocks_bytes<bits>(exec, k);
  return selected + radix_bytes<bits>();
}

/// Selects the k largest elements of a view of float, double or integers of 32 or 64 bits: writes
/// their indices and their values, out_values(r) = scores(out_indices(r)) for r in [0, k). Blocks.
///
/// Among equal elements those with the smallest indices are selected; sorted results list them by
/// rising index. Either view of results may have no elements if it is not wanted. Elements from k
/// on are not written. Infinities are values like others; 0.0 and -0.0 are equal, and each is
/// written as it is in the view. NaN ranks behind everything else, and all NaNs are equal.
///
/// Complexity: CPUs take one pass of comparisons while k is small, that is while the buffers of all
///   threads (see Memory) hold no more than a quarter of the elements. Otherwise, and on GPUs, one
///   pass for each 12 bits, until the bits read separate the selected elements from the others (at
///   most 3 passes for 32 bits, 6 for 64), and two to collect. Sorting adds a sort of k pairs, by
///   one thread on CPUs.
/// Requires: the views do not overlap (not checked), the results go to views that are not const,
///   and the scores are not written meanwhile.
/// Concurrency: works on `exec`.
/// Memory: select_k_bytes, allocated and freed: 16 bytes for each of k, and 32 KiB. On CPUs, while
///   k is small, instead of the 32 KiB: 16 KiB and 32 bytes for each of k, for each thread.
/// Throws: std::invalid_argument if k is larger than the number of elements, if a view of results
///   has elements, but fewer than k, or if the type of indices is too small; allocation_error.
/// Source: the radix selection of Alabi, Blanchard, Gordon, Steinbach, "Fast k-selection algorithms
///   for graphics processing units", JEA 17, 2012.
template <execution_space ExecSpace, view_1d Scores, view_1d Indices, view_1d Values>
void select_k(ExecSpace const& exec, Scores const& scores, std::uint64_t k,
              Indices const& out_indices, Values const& out_values,
              select_k_options const& options = {}) {
  using score = typename Scores::non_const_value_type;
  using index = typename Indices::non_const_value_type;
  static_assert(detail::is_score<score>,
                "karpos: elements to select are float, double or integers of 32 or 64 bits");
  static_assert(std::is_same_v<score, typename Values::non_const_value_type>,
                "karpos: selected values come in a view of the type of the scores");
  static_assert(std::is_integral_v<index> && (sizeof(index) == 4 || sizeof(index) == 8),
                "karpos: selected indices come in a view of integers of 32 or 64 bits");
  detail::require_reachable<ExecSpace, Scores, Indices, Values>();
  detail::user_call const call("select_k");
  detail::select_k::require_selectable(scores, k, out_indices, out_values);
  if (k == 0) return;
  using selected_view =
      Kokkos::View<detail::ranked<detail::radix_key<score>>*, typename ExecSpace::memory_space>;
  auto const selected =
      detail::allocated_array<selected_view>(exec, "karpos::select_k: selected", k);
  detail::select_k::select(exec, scores, k, selected);
  if (options.sorted) Kokkos::sort(exec, selected, detail::ranks_higher{});
  using write = detail::select_k::write_selected<Scores, selected_view, Indices, Values>;
  Kokkos::parallel_for("karpos::select_k: write", detail::index_range(exec, k),
                       write{scores, selected, out_indices, out_values, out_indices.extent(0) != 0,
                             out_values.extent(0) != 0});
  exec.fence("karpos::select_k: before the selected elements are freed");
}

}  // namespace karpos
