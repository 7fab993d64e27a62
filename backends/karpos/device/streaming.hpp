// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include "karpos/device/native/native.hpp"

namespace karpos::device {

/// Bytes of a cache line of CPUs.
inline constexpr int line_bytes = 64;

/// Writes a whole cache line past the caches, which need not fetch it first: what a CPU thread writes and nobody reads
/// soon. Both are aligned to line_bytes. Ordered with other stores by end_streaming.
KOKKOS_FORCEINLINE_FUNCTION void stream_line([[maybe_unused]] void* to,
                                             [[maybe_unused]] void const* from) {
  KOKKOS_IF_ON_HOST((host::stream_line(to, from);))
}

/// Reads N neighbours that nobody writes meanwhile or reads again soon; GPUs 16 bytes at a time where they are aligned to
/// that.
template <int N, class T>
KOKKOS_FORCEINLINE_FUNCTION void load_streamed(T const* p, T* to) {
  KOKKOS_IF_ON_DEVICE((native_device::load_streamed<N>(p, to);))
  KOKKOS_IF_ON_HOST((for (int i = 0; i < N; ++i) to[i] = p[i];))
}

/// What this thread has streamed is written before what it writes from here on.
KOKKOS_FORCEINLINE_FUNCTION void end_streaming() { KOKKOS_IF_ON_HOST((host::end_streaming();)) }

}  // namespace karpos::device
