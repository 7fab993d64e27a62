// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include "karpos/device/native/native.hpp"

namespace karpos::device {

/// Bytes of a cache line of CPUs.
inline constexpr int line_bytes = 64;

/// Writes a whole cache line past the caches, so that they need not fetch it first: for what no
/// thread reads soon. `to` and `from` are aligned to line_bytes. end_streaming orders it with other
/// stores. For CPUs only: do not call it on GPUs, where it writes nothing.
KOKKOS_FORCEINLINE_FUNCTION void stream_line([[maybe_unused]] void* to,
                                             [[maybe_unused]] void const* from) {
  KOKKOS_IF_ON_HOST((host::stream_line(to, from);))
}

/// Reads N adjacent elements. No thread writes them concurrently, and none reads them again soon.
/// GPUs read 16 bytes at a time if p is aligned to that, sizeof(T) divides 16, and N * sizeof(T) is
/// a multiple of 16.
template <int N, class T>
KOKKOS_FORCEINLINE_FUNCTION void load_streamed(T const* p, T* to) {
  KOKKOS_IF_ON_DEVICE((native_device::load_streamed<N>(p, to);))
  KOKKOS_IF_ON_HOST((for (int i = 0; i < N; ++i) to[i] = p[i];))
}

/// Orders what this thread has streamed before what it writes from here on.
KOKKOS_FORCEINLINE_FUNCTION void end_streaming() { KOKKOS_IF_ON_HOST((host::end_streaming();)) }

}  // namespace karpos::device
