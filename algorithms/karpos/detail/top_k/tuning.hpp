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
  /// Entries that a lane reads in a row, and of these at once: so many cache misses overlap.
  static constexpr int entries_of_a_lane = device::is_device<ExecSpace> ? 4 : 256;
  static constexpr int entries_at_once = 4;
  /// Entries between the prefetch of an object's cell and its use, per CPU thread. 10 M objects in anti-correlated lists,
  /// one thread: 300 ms with 32, 220 with 64.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 64;
  /// Cells that are scanned in the time of reading one where an entry says.
  static constexpr int cells_for_an_entry = device::is_device<ExecSpace> ? 16 : 8;
  /// Factors by which the depth grows from stride to stride. On an H200 a stride costs 15 to 25 us beside its entries, of
  /// which 40,000 are added in a microsecond.
  static constexpr double growth = device::is_device<ExecSpace> ? 2.0 : 1.25;
  static constexpr double growth_shrinking = device::is_device<ExecSpace> ? 2.0 : 1.15;
  /// A growing phase that goes deeper, as a part of the longest list, and survivors, as a part of the objects, make
  /// reading everything the cheaper way.
  static constexpr double deepest_growth = 0.3;
  static constexpr double max_survivors = 1.0 / 12;
  /// Finalists up to which each counts who is ahead of it; more are sorted.
  static constexpr std::uint32_t finalists_in_order = 4096;
  /// The first stride, at least, and as a part of the longest list.
  static constexpr int first_stride = device::is_device<ExecSpace> ? 32768 : 512;
  static constexpr int first_part = device::is_device<ExecSpace> ? 128 : 0;
  /// A stride costs a CPU as much as some thousand entries: Zipf lists of 1 M objects took 0.29 ms with 64, 0.12 with 1,024.
  static constexpr std::uint64_t min_stride = device::is_device<ExecSpace> ? 32768 : 1024;
};

}  // namespace karpos::detail::top_k
