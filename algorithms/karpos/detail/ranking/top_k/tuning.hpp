// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::top_k {

/// Constants of ranked queries by execution space, each with the measurement behind it.
template <class ExecSpace>
struct tuning {
  static constexpr int team_threads = device::is_device<ExecSpace> ? 512 : 1;
  static constexpr int teams_per_processor = device::is_device<ExecSpace> ? 2 : 1;
  static constexpr int tile_width = Kokkos::min(32, device::warp_width<ExecSpace>);
  /// Entries of a list that a lane handles, and entries of a batch, whose cache misses overlap
  /// (batches.hpp).
  static constexpr int entries_per_lane = device::is_device<ExecSpace> ? 4 : 256;
  static constexpr int batch = device::is_device<ExecSpace> ? 4 : 1;
  /// Entries between the prefetch of an accumulator and its use, per CPU thread. 10 M objects in
  /// anti-correlated lists, one thread: 300 ms with 32, 220 with 64.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 64;
  /// A stride of at least this many levels is added list by list. No id occurs twice in a list, so
  /// threads that share a list share no accumulator and need no atomic operations. 0: all lists at
  /// once.
  static constexpr std::uint64_t min_levels_by_list = device::is_device<ExecSpace> ? 0 : 8192;
  /// Accumulators scanned in order in the time of one random access.
  static constexpr int scanned_per_access = device::is_device<ExecSpace> ? 16 : 8;
  /// Words of a histogram that a thread loads in one batch, when a team finds the threshold.
  static constexpr int histogram_batch = 12;
  /// Factors by which the depth grows from stride to stride. On an H200 a stride costs 15 to 25 us
  /// in addition to its entries, of which 40,000 are added in a microsecond.
  static constexpr double growth = device::is_device<ExecSpace> ? 2.0 : 1.25;
  static constexpr double growth_shrinking = device::is_device<ExecSpace> ? 2.0 : 1.15;
  /// Limits above which full aggregation is cheaper: the depth of the growing phase, as a fraction
  /// of the longest list, and the candidates of the shrinking phase, as a fraction of the objects.
  static constexpr double max_growing_depth = 0.3;
  static constexpr double max_candidates = 1.0 / 12;
  /// If all entries are read, a sample of the slots, one in slot_sample_divisor, gives a first
  /// threshold by its sums. lists_by_slot_sample: whether candidates are listed by this threshold,
  /// unless they are too many. It leaves about slot_sample_divisor times k candidates, and saves a
  /// pass over all slots.
  static constexpr std::uint64_t slot_sample_divisor = device::is_device<ExecSpace> ? 16 : 64;
  static constexpr bool lists_by_slot_sample = !device::is_device<ExecSpace>;
  /// A growing phase checks once whether the lists agree too little for it to end in time. It
  /// counts how many of agreement_entries entries it has seen in another list, too. It checks as
  /// soon as independent lists would share agreement_min_shared of these entries. 0: no check. With
  /// 10 M objects in four lists it checks at a depth of 0.4 %; the check takes a CPU 50 us.
  static constexpr std::uint64_t agreement_entries = device::is_device<ExecSpace> ? 0 : 8192;
  static constexpr double agreement_min_shared = 100;
  /// If there are at most this many finalists, each counts those that rank higher, in one step.
  /// More are sorted.
  static constexpr std::uint32_t max_ranked_by_counting = 4096;
  /// Levels of the first stride: at least first_stride, and at least the length of the longest list
  /// divided by first_stride_divisor (0: no such limit).
  static constexpr int first_stride = device::is_device<ExecSpace> ? 32768 : 512;
  static constexpr int first_stride_divisor = device::is_device<ExecSpace> ? 128 : 0;
  /// A stride costs a CPU as much as a thousand entries: Zipf lists of 1 M objects took 0.29 ms
  /// with 64, 0.12 with 1024.
  static constexpr std::uint64_t min_stride = device::is_device<ExecSpace> ? 32768 : 1024;
  /// Strides of the NRA over score vectors, which run as kernels of their own: the first stride,
  /// and the shortest.
  static constexpr std::uint64_t nra_first_stride = 512;
  static constexpr std::uint64_t nra_min_stride = 64;
  /// Whether candidates are sorted, and the k-th selected, by std algorithms in place instead of
  /// Kokkos::sort.
  static constexpr bool sorts_on_one_thread = !device::is_device<ExecSpace>;
};

}  // namespace karpos::detail::top_k
