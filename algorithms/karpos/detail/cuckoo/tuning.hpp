// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/device/space.hpp"

namespace karpos::detail::cuckoo {

/// Constants of the cuckoo tables by execution space, each with the measurement behind it.
template <class ExecSpace>
struct tuning {
  /// Keys between the prefetch of a key's line and its use, per CPU thread.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 64;
  /// Whether a lookup reads the slots of a line one by one. CPUs compare a whole line as fast.
  static constexpr bool reads_slots = device::is_device<ExecSpace>;
  /// Bytes of a window that a lookup reads at once: a sector of a GPU's memory, a line of a CPU's cache.
  static constexpr int read_bytes = device::is_device<ExecSpace> ? 32 : 64;
  /// Threads of a team that divides, of one that builds, and how many of these a multiprocessor has room for.
  static constexpr int threads = device::is_device<ExecSpace> ? 512 : 1;
  static constexpr int threads_of_builders = device::is_device<ExecSpace> ? 128 : 1;
  static constexpr int builders_at_once = 10;
  /// Threads that play the last rounds of a build alone.
  static constexpr int tile_width = Kokkos::min(32, device::warp_width<ExecSpace>);
};

}  // namespace karpos::detail::cuckoo
