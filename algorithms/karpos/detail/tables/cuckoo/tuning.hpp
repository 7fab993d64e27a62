// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"

namespace karpos::detail::cuckoo {

/// Constants of the cuckoo tables by execution space. Figures: H200, 2^27 pairs of 4 + 4 bytes,
/// `karpos hash`; all variants that were measured are in perf/results/h200.
template <class ExecSpace>
struct tuning {
  static constexpr bool on_device = device::is_device<ExecSpace>;
  /// Whether a team (CUDA: a block) may have more than 224 KiB of scratch (shared memory), as on an
  /// H100. Other GPUs give as little as 48 KiB.
  static constexpr bool has_shared_memory = device::max_scratch_bytes<ExecSpace> > 224 * 1024;

  /// Maximum of regions that a split makes in one pass; more take two passes (5,749 regions: one
  /// pass 2.05 ms, two 2.03).
  static constexpr std::uint64_t max_regions = 4096;

  /// Lanes of the warps that finish a bucket, or place items.
  static constexpr int warp_lanes = Kokkos::min(32, device::warp_width<ExecSpace>);

  // Lookups.

  /// Keys between the prefetch of a key's line and its use, per CPU thread.
  static constexpr int prefetch_distance = on_device ? 0 : 64;
  /// Whether a lookup reads the slots of a line one by one. CPUs compare a whole line as fast.
  static constexpr bool reads_slots = on_device;
  /// Bytes of a window that a lookup of a GPU thread reads at once: a sector of its memory.
  static constexpr int read_bytes = device::sector_bytes<ExecSpace>;

  // two_level: building buckets.

  /// Buckets of a region, which a team builds, and the most items that it may have: the mean and
  /// 6.5 standard deviations.
  static constexpr int region_buckets = !on_device ? 8 : has_shared_memory ? 4 : 2;
  static constexpr int region_items = region_buckets == 8   ? 3712
                                      : region_buckets == 4 ? 1920
                                                            : 1024;
  /// Threads of the team, and teams on a multiprocessor (8 buckets and 256 threads, three teams:
  /// 2.6 ms instead of 2.0).
  static constexpr int builder_threads = !on_device          ? 1
                                         : has_shared_memory ? 256
                                                             : 128,
                       builders_at_once = has_shared_memory ? 6 : 10;

  // dense: placing items.

  /// Whether threads insert into a partition concurrently, with a compare-and-swap for a slot; if
  /// not, one thread inserts alone.
  template <class Word>
  static constexpr bool places_concurrently =
      on_device && device::is_lock_free<static_cast<int>(sizeof(Word)), ExecSpace>;
  /// Threads of a team that inserts concurrently, and teams on a multiprocessor.
  static constexpr int placer_threads = 256, placers_at_once = 6;
  /// Bytes of items that such a team inserts. Its list of unplaced items, in shared memory, has
  /// space for all of them, and the lanes of a warp take items from it in step (windows of four:
  /// 15.8 ms with a thread per item, 12.5 in step).
  static constexpr int placer_bytes = 16384;
  /// Threads of a team that places a partition in its scratch, alone on a multiprocessor.
  static constexpr int scratch_placer_threads = on_device ? 1024 : 1;
  /// Threads of a team of which one inserts alone: a GPU has no teams smaller than a warp.
  static constexpr int lone_placer_threads = on_device ? 32 : 1;
};

}  // namespace karpos::detail::cuckoo
