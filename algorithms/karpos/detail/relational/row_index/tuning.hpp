// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/space.hpp"

namespace karpos::detail::row_index {

/// Constants of an index of rows, by execution space.
template <class ExecSpace>
struct tuning {
  /// Slots of a bucket: what one memory access brings.
  static constexpr int bucket_slots = device::sector_bytes<ExecSpace> / 8;
  /// Slots for each eight rows. H100, 2^27 different keys of 4 bytes, 16 and 10 slots: index 8.3
  /// and 7.6 ms, match 4.6 and 4.7.
  static constexpr std::uint64_t slots_of_8_rows = device::is_device<ExecSpace> ? 10 : 16;
  /// Rows that a CPU thread keeps in flight. GPUs hide latency with threads instead.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 32;
  /// Bits of a group id that one pass of the sort by group splits by, as one of `partition` does.
  static constexpr int digit_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(
                                        partition::tuning<ExecSpace>::max_partitions(true)))) -
                                    1;
};

}  // namespace karpos::detail::row_index
