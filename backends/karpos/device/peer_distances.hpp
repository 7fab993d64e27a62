// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace karpos::device {

/// The greatest number of devices of a host that a kernel can span.
inline constexpr int most_peers = 8;

/// Distances from the window of this rank (peers.hpp) to those of all ranks, in bytes. If an object
/// lies at p in this rank's window, its counterpart lies at of(r, p) in rank r's. count = 0: no
/// window is open.
struct peer_distances {
  std::int64_t bytes[most_peers];
  int count, rank;  // number of ranks; this one

  template <class T>
  KOKKOS_FUNCTION T* of(int r, T* mine) const {
    using object = std::remove_const_t<T>;
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(const_cast<object*>(mine)) + bytes[r]);
  }
};

}  // namespace karpos::device
