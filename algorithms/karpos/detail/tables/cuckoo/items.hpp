// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"

// The input of a build: the items of a source, and the region that each of them belongs to.

namespace karpos::detail::cuckoo {

/// The result of a build.
struct build_report {
  std::uint32_t overflowed = 0;  ///< items that overflowed their region, or its coarse region
  std::uint64_t invalid = 0;     ///< items with the sentinel for a key; perhaps not all of them
  std::uint64_t unplaced = 0;    ///< regions (two_level) or items (dense) without a place
  std::uint64_t duplicates = 0;  ///< keys that are equal to another one in the table

  bool is_complete() const {
    return overflowed == 0 && invalid == 0 && unplaced == 0 && duplicates == 0;
  }
};
/// Adds n to a counter of the report, for a team that gives up.
template <class Team>
KOKKOS_FUNCTION void report_failure(Team const& t, std::uint64_t* counter, std::uint64_t n = 1) {
  if (t.rank() == 0) device::add(counter, n);
}

// A thread of a team, and the team's threads, as indices are computed with.
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t rank(Team const& t) {
  return static_cast<std::uint32_t>(t.rank());
}
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t size(Team const& t) {
  return static_cast<std::uint32_t>(t.size());
}

/// Items as a partition moves them.
template <class View>
struct items_as_rows : partition::plain_rows<typename View::word> {
  using word = typename View::word;
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(word item) { return View::layout::key_of(item); }
};

/// Source of items: pairs of two views.
template <class View, class Keys, class Values>
struct all_pairs : items_as_rows<View> {
  using word = typename View::word;
  Keys keys;
  Values values;
  all_pairs(Keys const& k, Values const& v) : keys(k), values(v) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION word load(std::uint64_t i) const {
    return View::protocol::item(device::element(keys, i), device::element(values, i));
  }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void load_neighbours(std::uint64_t i, word* to) const {
    typename Keys::non_const_value_type k[N];
    typename View::mapped_type v[N];
    partition::load_elements<N>(keys, i, k);
    partition::load_elements<N>(values, i, v);
    for (int j = 0; j < N; ++j) to[j] = View::protocol::item(k[j], v[j]);
  }
};
/// Source of items: the pairs at a list of indices.
template <class View, class Keys, class Values, class Indices>
struct selected_pairs : items_as_rows<View> {
  using word = typename View::word;
  Keys keys;
  Values values;
  Indices indices;
  selected_pairs(Keys const& k, Values const& v, Indices const& i)
      : keys(k),
        values(v),
        indices(i) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return indices.extent(0); }
  KOKKOS_FORCEINLINE_FUNCTION word load(std::uint64_t i) const {
    return View::protocol::item(keys(indices(i)), values(indices(i)));
  }
};

/// Writes the pairs of a source to views, from an index on.
template <class Key, class View, class Source, class KeysOut, class ValuesOut>
struct append_pairs {
  using layout = typename View::layout;
  Source source;
  KeysOut keys;
  ValuesOut values;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const item = source.load(i);
    keys(first + i) = from_bits<Key>(layout::key_of(item));
    values(first + i) = layout::value_of(item);
  }
};

/// The region of a key: that of its group, if a region holds 2^shift neighbouring groups.
template <class View>
struct region_of_key {
  View table;
  int shift;
  KOKKOS_FUNCTION std::uint32_t operator()(typename View::key_bits key) const {
    return static_cast<std::uint32_t>(
        table.group_of(table.hash_of(from_bits<typename View::key_type>(key))) >> shift);
  }
};

}  // namespace karpos::detail::cuckoo
