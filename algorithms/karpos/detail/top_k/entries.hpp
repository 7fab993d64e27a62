// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "karpos/device/atomics.hpp"

// What a ranked query ends with: objects and their bounds, to be put in order and given to the caller.

namespace karpos::detail::top_k {

/// An object and its bounds, which are equal once its aggregate is known.
template <class Id>
struct ranked_object {
  double lower, upper;
  Id id;
  std::uint32_t place;

  /// Whether this one is ahead: by what it has for sure, by what it may have, by its id.
  KOKKOS_FUNCTION friend bool operator<(ranked_object const& a, ranked_object const& b) {
    if (a.lower != b.lower) return a.lower > b.lower;
    if (a.upper != b.upper) return a.upper > b.upper;
    return a.id < b.id;
  }
};

template <class Id>
struct is_ahead {
  KOKKOS_FUNCTION bool operator()(ranked_object<Id> const& a, ranked_object<Id> const& b) const {
    return a < b;
  }
};

/// Puts objects in order. Waits.
template <class ExecSpace, class View>
void put_in_order(ExecSpace const& exec, View const& entries) {
  using id = decltype(entries(0).id);
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                           typename View::memory_space>::accessible) {
    exec.fence("karpos::top_k: before sorting");
    std::sort(entries.data(), entries.data() + entries.extent(0));
  } else {
    if (entries.extent(0) > 1) Kokkos::sort(exec, entries, is_ahead<std::remove_cvref_t<id>>{});
  }
}

/// The caller's arrays. Scores go to one of two types, or to none.
template <class Id>
struct results {
  Id* ids;
  float* floats;
  double* doubles;

  KOKKOS_FUNCTION void write(std::uint64_t rank, Id id, double score) const {
    ids[rank] = id;
    if (floats != nullptr) floats[rank] = static_cast<float>(score);
    if (doubles != nullptr) doubles[rank] = score;
  }
};

template <class Id>
struct write_results {
  ranked_object<Id> const* from;
  results<Id> to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to.write(i, from[i].id, from[i].lower); }
};

}  // namespace karpos::detail::top_k
