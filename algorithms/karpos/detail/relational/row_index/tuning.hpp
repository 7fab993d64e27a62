// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/space.hpp"

namespace karpos::detail::row_index {

/// Constants of an index of rows, by execution space.
template <class ExecSpace>
struct tuning {
  /// Slots of a bucket: what one memory access brings.
  static constexpr int bucket_slots = device::sector_bytes<ExecSpace> / 8;
  /// Rows that a CPU thread keeps in flight. GPUs hide latency with threads instead.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 32;
  /// Bits of a group id that one pass of the sort by group splits by, as one of `partition` does.
  static constexpr int digit_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(
                                        partition::tuning<ExecSpace>::max_partitions(true)))) -
                                    1;
};

}  // namespace karpos::detail::row_index
