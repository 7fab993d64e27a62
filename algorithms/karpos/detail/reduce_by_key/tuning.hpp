// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::reduce_by_key {

/// Constants of a reduction by key, by execution space.
template <class ExecSpace>
struct tuning {
  static constexpr bool is_device = device::is_device<ExecSpace>;
  /// Threads of a team: a block of as many as there can be, because there is room for one table only.
  static constexpr int threads = is_device ? 1024 : 1;
  /// Bytes of the rows of a chunk: a table in scratch is half as large again, 128 KB where a block can have 227. On CPUs a list
  /// of groups and its index lie in the second-level cache.
  static constexpr std::uint32_t chunk_bytes = std::bit_floor(
      static_cast<std::uint32_t>(device::max_scratch_bytes<ExecSpace> - 1024) / 3 * 2);
  /// Rows of a chunk: as many as fill a table in scratch to two thirds.
  KOKKOS_FUNCTION static constexpr std::uint32_t chunk_rows(int row_bytes) {
    return chunk_bytes / static_cast<std::uint32_t>(row_bytes);
  }
  KOKKOS_FUNCTION static constexpr std::uint32_t slots(int row_bytes) {
    return chunk_rows(row_bytes) / 2 * 3 / 4 * 4;
  }
  /// Slots of a table that is filled with so many rows.
  KOKKOS_FUNCTION static constexpr std::uint32_t slots_for(std::uint32_t rows) {
    return (rows + (rows + 1) / 2 + 4) / 4 * 4;
  }
  /// Rows of a part on average, of those of a chunk: parts differ in length where keys have equals.
  static constexpr std::uint64_t mean_part_rows(int row_bytes) { return chunk_rows(row_bytes) / 2; }
  /// The same where that keeps to the 8,192 parts of one pass of a partition.
  static constexpr std::uint64_t most_part_rows(int row_bytes) {
    return chunk_rows(row_bytes) / 5 * 4;
  }
  static constexpr std::uint64_t parts_of_a_pass = 8192;
  /// Rows that a thread finds slots for before it merges any: what its registers hold, or a CPU's first-level cache.
  static constexpr int batch(int row_bytes) {
    if (!is_device) return row_bytes <= 16 ? 256 : 4096 / row_bytes;
    return row_bytes <= 8 ? 8 : Kokkos::clamp(64 / row_bytes, 1, 4);
  }
  /// Slots, or buckets of them, that a row looks at before it is left to the partition, when rows are aggregated first.
  static constexpr std::uint32_t probe_length = is_device ? 4 : 8;
  // Parts in rooms (parts.hpp), on GPUs:
  /// Threads of a team that aggregates a part, one of two on a multiprocessor, and rows that a thread finds slots for at
  /// once: 32 registers hold keys of 4 bytes with their counts.
  static constexpr int part_threads(int row_bytes) { return row_bytes <= 8 ? 1024 : 512; }
  static constexpr int part_batch(int row_bytes) {
    return row_bytes <= 8 ? 4 : Kokkos::clamp(64 / row_bytes, 1, 4);
  }
  /// Buckets that a row looks at before its part is left to a larger table.
  static constexpr std::uint32_t part_looks = 32;
  /// The same before it is left to the next round.
  static constexpr std::uint32_t most_looks = 64;
  /// Keys that are looked at to decide whether they are, and on GPUs how many must be equal to another one: 3 in 100 are
  /// where about 17,000 keys are equally frequent, which a table just holds.
  static constexpr std::uint32_t sample = 1024, min_equal = 31;
  /// Rows from which on that look is worth its wait.
  static constexpr std::uint64_t min_sampled_rows = 65536;
};

}  // namespace karpos::detail::reduce_by_key
