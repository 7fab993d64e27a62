// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/ranking/select_k/blocks.hpp"
#include "karpos/detail/ranking/select_k/radix.hpp"
#include "karpos/detail/ranking/select_k/tuning.hpp"

// The host driver of select_k: checks its arguments, and chooses between two selections.
//
//   blocks   | 3 9 1 … | 7 2 8 … | …    CPUs, small k: each thread reads a block, and keeps its k
//   buffers  | 9 3 |   | 8 7 |          largest (blocks.hpp); then the k largest of all buffers
//   digits   | 12 bits | 12 bits | …    otherwise: counts the values of a digit, finds that of the
//                                       k-th largest element, and goes on with the elements that
//                                       share this prefix; then collects the selected (radix.hpp)
// Tests: select_k.

namespace karpos::detail::select_k {

/// Writes the selected elements as indices, as values, or both.
template <class Scores, class Selected, class Indices, class Values>
struct write_selected {
  Scores scores;
  Selected selected;
  Indices indices;
  Values values;
  bool with_indices, with_values;

  KOKKOS_FUNCTION void operator()(std::uint64_t r) const {
    std::uint64_t const i = selected(r).index;
    if (with_indices) indices(r) = static_cast<typename Indices::non_const_value_type>(i);
    if (with_values) values(r) = scores(i);
  }
};

template <class Scores, class Indices, class Values>
void require_selectable(Scores const& scores, std::uint64_t k, Indices const& indices,
                        Values const& values) {
  if (k > scores.extent(0))
    reject("more elements to select than there are",
           std::to_string(k) + " of " + std::to_string(scores.extent(0)), "select at most all");
  if (indices.extent(0) != 0)
    require_length("the view of indices", indices.extent(0), k, "selected");
  if (values.extent(0) != 0) require_length("the view of values", values.extent(0), k, "selected");
  using index = typename Indices::non_const_value_type;
  if (indices.extent(0) != 0 && scores.extent(0) > 0)
    require_holds<index>("the view of indices", scores.extent(0) - 1);
}

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

}  // namespace karpos::detail::select_k
