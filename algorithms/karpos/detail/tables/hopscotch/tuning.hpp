// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::hopscotch {

/// Constants of the hopscotch tables by execution space, each with the measurement behind it.
template <class ExecSpace>
struct tuning {
  /// Keys between the prefetch of a key's home line and its use, per CPU thread.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 64;
  /// Whether find reads the home line in parts, and stops as soon as it can: the cost on GPUs is
  /// requests to memory. CPUs compare a whole line as fast as a part, and their cost is branches.
  static constexpr bool reads_home_in_parts = device::is_device<ExecSpace>;
  /// Threads of a GPU's multiprocessor in kernels that write, which bounds their registers. Moving
  /// keys would take 140, but is rare: with 140 registers each, only a third as many threads could
  /// wait for memory at once.
  static constexpr unsigned threads_at_once = device::is_device<ExecSpace> ? 1536 : 0;
  /// From this many erasures on, one kernel at the end of a bulk call notes the free slots, instead
  /// of each erasure.
  /// To note a slot takes a fence: 13 ps more for each of 2^26 keys on an H100, so that 2^18 fences
  /// take as long as the launch of a kernel. On a thread of a CPU it takes 2 ns for each of 4
  /// million keys.
  static constexpr std::uint64_t min_batched_erasures = std::uint64_t(1)
                                                        << (device::is_device<ExecSpace> ? 18 : 12);
};

}  // namespace karpos::detail::hopscotch
