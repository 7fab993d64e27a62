// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/device/native/step_function.hpp"

// Memory-level parallelism within one thread: a thread that loads a word and uses it at once waits for each cache miss;
// one that first issues N independent loads and then uses them waits once for N. GPUs overlap misses between warps as
// well, so that a few loads do; a CPU thread has nothing else.
//
//   for_each_batch    cuts a strided index range into batches of N; the body does the loads and the uses
//   load_then_use     the same for a body that is a load, a dependent load, and a use
//   load_all_then_use the same for short ranges: the last batch is guarded instead of taken one by one
//
// An index sequence is first, first + step, … below last: step is 1 for a CPU thread, the tile's width for a lane.

namespace karpos::detail {

/// A batch's size as a type, so that arrays of that size stay in registers.
template <int N>
using batch_size = std::integral_constant<int, N>;

/// Runs body(i, batch_size<N>) for batches that begin at i, and body(i, batch_size<1>) for each index that is left.
template <int N, class Body>
KARPOS_STEP_FUNCTION void for_each_batch(std::uint64_t first, std::uint64_t last,
                                         std::uint64_t step, Body const& body) {
  std::uint64_t i = first;
  for (; i + (N - 1) * step < last; i += N * step) KARPOS_INLINE_CALLS body(i, batch_size<N>());
  if constexpr (N > 1)
    for (; i < last; i += step) KARPOS_INLINE_CALLS body(i, batch_size<1>());
}

/// Runs use(i, a, b) for each index, where a = load(i), b = follow(a): N loads, then the N that depend on them, then N
/// uses. Requires: load and follow have no side effects, and do not read what `use` writes.
template <int N, class Load, class Follow, class Use>
KARPOS_STEP_FUNCTION void load_then_use(std::uint64_t first, std::uint64_t last, std::uint64_t step,
                                        Load const& load, Follow const& follow, Use const& use) {
  using loaded = decltype(load(first));
  using followed = decltype(follow(load(first)));
  std::uint64_t i = first;
  for (; i + (N - 1) * step < last; i += N * step) {
    loaded a[N];
    followed b[N];
    for (int j = 0; j < N; ++j) a[j] = load(i + static_cast<std::uint64_t>(j) * step);
    for (int j = 0; j < N; ++j) b[j] = follow(a[j]);
    for (int j = 0; j < N; ++j)
      KARPOS_INLINE_CALLS use(i + static_cast<std::uint64_t>(j) * step, a[j], b[j]);
  }
  if constexpr (N > 1)
    for (; i < last; i += step) {
      auto const a = load(i);
      KARPOS_INLINE_CALLS use(i, a, follow(a));
    }
}

/// Runs use(i, load(i)) for each index, N loads at a time; in the last batch too, where indices beyond the end load
/// what `first` does, and are not used. For a sequence of a few batches, whose remainder would wait N - 1 times.
template <int N, class Load, class Use>
KARPOS_STEP_FUNCTION void load_all_then_use(std::uint64_t first, std::uint64_t last,
                                            std::uint64_t step, Load const& load, Use const& use) {
  for (std::uint64_t i = first; i < last; i += N * step) {
    decltype(load(first)) a[N];
    for (int j = 0; j < N; ++j) {
      std::uint64_t const at = i + static_cast<std::uint64_t>(j) * step;
      a[j] = load(at < last ? at : first);
    }
    for (int j = 0; j < N; ++j) {
      std::uint64_t const at = i + static_cast<std::uint64_t>(j) * step;
      if (at < last) KARPOS_INLINE_CALLS use(at, a[j]);
    }
  }
}

}  // namespace karpos::detail
