// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/detail/multisplit.hpp"

// What a build splits: the items of a source, by the group of slots that each belongs to.

namespace karpos::detail::cuckoo {

/// What became of a build.
struct build_report {
  multisplit_report split;       ///< keys equal to the sentinel; items beyond a region's capacity
  std::uint64_t unplaced = 0;    ///< regions (two_level) or items (dense) without a place
  std::uint64_t duplicates = 0;  ///< keys that are equal to another one in the table
};

/// Source of items: pairs of two views.
template <class View, class Keys, class Values>
struct all_pairs {
  using word = typename View::word;
  Keys keys;
  Values values;
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FUNCTION word item(std::uint64_t i) const {
    return View::protocol::item(keys(i), values(i));
  }
};
/// Source of items: the pairs at a list of indices.
template <class View, class Keys, class Values, class Indices>
struct selected_pairs {
  using word = typename View::word;
  Keys keys;
  Values values;
  Indices indices;
  KOKKOS_FUNCTION std::uint64_t size() const { return indices.extent(0); }
  KOKKOS_FUNCTION word item(std::uint64_t i) const {
    return View::protocol::item(keys(indices(i)), values(indices(i)));
  }
};

/// Target of an item: the region of its group, where a region holds 2^shift neighbouring groups.
template <class View>
struct region_of_item {
  using word = typename View::word;
  View table;
  int shift;
  KOKKOS_FUNCTION word padding() const { return table.slot.empty_slot(); }
  region_of_item coarsened(int bits) const { return {table, shift + bits}; }
  KOKKOS_FUNCTION bool is_valid(word item) const { return table.slot.live(item); }
  KOKKOS_FUNCTION std::uint32_t operator()(word item) const {
    return static_cast<std::uint32_t>(table.group_of(table.hash_of_item(item)) >> shift);
  }
};

/// Regions for n items, whose hashes spread them evenly over the groups of a table.
inline multisplit_plan plan_for_groups(std::uint64_t n, std::uint64_t groups, int shift,
                                       std::uint64_t max_targets) {
  double const mean = static_cast<double>(n) / static_cast<double>(groups) *
                      static_cast<double>(std::uint64_t(1) << shift);
  return multisplit_plan::of(n, ((groups - 1) >> shift) + 1, mean, max_targets);
}

}  // namespace karpos::detail::cuckoo
