// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/device/native/step_function.hpp"

// Memory-level parallelism within one thread: a thread that issues N independent loads before it
// uses the first waits once for N cache misses. GPUs also overlap the misses of several warps, so a
// few loads suffice; a CPU thread has nothing else.
//
//   for_each_batch    cuts a strided index range into batches of N; the body loads and uses
//   load_then_use     for a body that is a load, a dependent load, and a use
//   load_all_then_use for one load and a use over short ranges: the last batch is guarded instead
//                     of taken one by one
//
// Indices are first, first + step, … below last. step is 1 for a CPU thread, the tile's width for a
// lane of a tile (a thread of a cooperative group).

namespace karpos::detail {

/// The size of a batch as a type, so that arrays of that size stay in registers.
template <int N>
using batch_size = std::integral_constant<int, N>;

/// Runs body(i, batch_size<N>) for each batch, from i on, and body(i, batch_size<1>) for the rest.
template <int N, class Body>
KARPOS_STEP_FUNCTION void for_each_batch(std::uint64_t first, std::uint64_t last,
                                         std::uint64_t step, Body const& body) {
  std::uint64_t i = first;
  for (; i + (N - 1) * step < last; i += N * step) KARPOS_INLINE_CALLS body(i, batch_size<N>());
  if constexpr (N > 1)
    for (; i < last; i += step) KARPOS_INLINE_CALLS body(i, batch_size<1>());
}

/// Runs use(i, a, b) for each index, with a = load(i) and b = follow(a): N loads, then the N
/// dependent loads, then N uses. Requires: load and follow have no side effects, and do not read
/// what `use` writes.
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

/// Runs use(i, load(i)) for each index, N loads at a time. Indices of the last batch beyond the end
/// load what `first` loads. For few batches, whose remainder would otherwise wait N - 1 times.
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
