// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstddef>
#include <cstdint>

namespace karpos::device {

/// Devices of a host that a kernel spans, at most.
inline constexpr int most_peers = 8;

/// How far the windows of all ranks are from this rank's, in bytes: what lies at p in this one lies at of(r, p) in rank r's.
/// count = 0: there are no windows.
struct peer_distances {
  std::int64_t bytes[most_peers];
  int count, me;

  template <class T>
  KOKKOS_FUNCTION T* of(int rank, T* mine) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(mine) + bytes[rank]);
  }
};

}  // namespace karpos::device
