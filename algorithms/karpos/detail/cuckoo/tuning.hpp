// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"

#ifndef KARPOS_T_BUCKETS
#define KARPOS_T_BUCKETS 8
#define KARPOS_T_THREADS 512
#define KARPOS_T_ONCE 3
#endif
#ifndef KARPOS_T_REGIONS
#define KARPOS_T_REGIONS 4096
#endif
namespace karpos::detail::cuckoo {

/// Constants of the cuckoo tables by execution space. Figures: H200, 2^27 pairs of 4 + 4 bytes, `karpos hash`; all that
/// was tried stands in perf/results/h200.
template <class ExecSpace>
struct tuning {
  static constexpr bool on_device = device::is_device<ExecSpace>;
  /// Whether a team may have most of 227 KiB of scratch; other GPUs' have 48.
  static constexpr bool has_shared_memory = device::max_scratch_bytes<ExecSpace> > 224 * 1024;

  /// Regions of one pass of a split; more take two.
  static constexpr std::uint64_t max_regions = KARPOS_T_REGIONS;

  // Lookups.

  /// Keys between the prefetch of a key's line and its use, per CPU thread.
  static constexpr int prefetch_distance = on_device ? 0 : 64;
  /// Whether a lookup reads the slots of a line one by one. CPUs compare a whole line as fast.
  static constexpr bool reads_slots = on_device;
  /// Bytes of a window that a lookup of a GPU thread reads at once: a sector of its memory.
  static constexpr int read_bytes = device::sector_bytes<ExecSpace>;

  // two_level: building buckets.

  /// Buckets of a region, which a team builds, and the most items that it may have; threads of the team, and teams of a
  /// multiprocessor.
  static constexpr int region_buckets = has_shared_memory ? KARPOS_T_BUCKETS : 2;
  static constexpr int region_items = region_buckets == 8   ? 3712
                                      : region_buckets == 4 ? 1920
                                                            : 1024;
  static constexpr int builder_threads = on_device ? KARPOS_T_THREADS : 1,
                       builders_at_once = KARPOS_T_ONCE;
  /// Lanes of the warp that finishes the rounds once it has a lane for every unplaced key (4.4 ms without, 4.0 with).
  static constexpr int finishing_lanes = Kokkos::min(32, device::warp_width<ExecSpace>);

  // dense: placing items.

  /// Whether threads insert into a partition concurrently, with a compare-and-swap for a slot; else one thread alone.
  template <class Word>
  static constexpr bool places_concurrently =
      on_device && device::is_lock_free<static_cast<int>(sizeof(Word)), ExecSpace>;
  /// Threads of a team that inserts concurrently, and teams of a multiprocessor.
  static constexpr int placer_threads = 256, placers_at_once = 6;
  /// Bytes of items that such a team inserts. Its list of unplaced ones, in shared memory, has room for all of them,
  /// and the lanes of a warp take items from it in step (windows of four: 15.8 ms with a thread an item, 12.5 so).
  static constexpr int placer_bytes = 16384;
  static constexpr int placer_lanes = Kokkos::min(32, device::warp_width<ExecSpace>);
  /// Threads of a team that places a partition in its scratch, alone on a multiprocessor.
  static constexpr int scratch_placer_threads = on_device ? 1024 : 1;
  /// Threads of a team of which one inserts alone: a GPU has none of fewer than a warp.
  static constexpr int lone_placer_threads = on_device ? 32 : 1;
};

}  // namespace karpos::detail::cuckoo
