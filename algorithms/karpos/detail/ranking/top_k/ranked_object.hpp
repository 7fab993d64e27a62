// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>

#include "karpos/detail/ranking/ranked.hpp"
#include "karpos/detail/ranking/top_k/tuning.hpp"
#include "karpos/device/loops.hpp"

// The results of a ranked query: objects with their bounds, their order, and the caller's arrays.

namespace karpos::detail::top_k {

/// An object and the bounds of its aggregate, which are equal once all its scores are known.
template <class Id>
struct ranked_object {
  double lower, upper;
  Id id;
  std::uint32_t slot;

  /// Returns whether a ranks higher: by lower bound, then by upper bound, then by smaller id.
  KOKKOS_FUNCTION friend bool operator<(ranked_object const& a, ranked_object const& b) {
    if (a.lower != b.lower) return a.lower > b.lower;
    if (a.upper != b.upper) return a.upper > b.upper;
    return a.id < b.id;
  }
};

/// The caller's arrays. Scores are written to an array of one of two types, or to none.
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

/// Sorts the first n objects of a view, the highest rank first. Blocks if one host thread sorts.
template <class ExecSpace, class Objects>
void sort_by_rank(ExecSpace const& exec, Objects const& objects, std::uint64_t n) {
  if constexpr (tuning<ExecSpace>::sorts_on_one_thread) {
    exec.fence("karpos::top_k: before sorting");
    std::sort(objects.data(), objects.data() + n);
  } else {
    auto const first_n = Kokkos::pair<std::uint64_t, std::uint64_t>(0, n);
    if (n > 1) Kokkos::sort(exec, Kokkos::subview(objects, first_n), ranks_higher{});
  }
}

/// Writes the first n objects as results. Blocks.
template <class ExecSpace, class Id>
void write_ranks(ExecSpace const& exec, ranked_object<Id> const* objects, std::uint64_t n,
                 results<Id> const& to) {
  device::loop_over("karpos::top_k::write", exec, n, write_results<Id>{objects, to});
  exec.fence("karpos::top_k: results");
}

}  // namespace karpos::detail::top_k
