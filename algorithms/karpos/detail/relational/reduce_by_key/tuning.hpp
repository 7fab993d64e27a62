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
  /// Threads of a team: the largest block, because there is memory for one table only.
  static constexpr int threads = is_device ? 1024 : 1;
  /// Bytes of the rows of a chunk: 128 KB if a block can have 227, because a table in scratch takes
  /// half as much again. On CPUs a list of groups and its index lie in the second-level cache.
  static constexpr std::uint32_t chunk_bytes = std::bit_floor(
      static_cast<std::uint32_t>(device::max_scratch_bytes<ExecSpace> - 1024) / 3 * 2);
  /// Rows of a chunk: as many as fill a table in scratch to two thirds.
  KOKKOS_FUNCTION static constexpr std::uint32_t chunk_rows(int row_bytes) {
    return chunk_bytes / static_cast<std::uint32_t>(row_bytes);
  }
  KOKKOS_FUNCTION static constexpr std::uint32_t slots(int row_bytes) {
    return chunk_rows(row_bytes) / 2 * 3 / 4 * 4;
  }
  KOKKOS_FUNCTION static constexpr std::uint32_t slots_for(std::uint32_t rows) {
    return (rows + (rows + 1) / 2 + 4) / 4 * 4;
  }
  /// Mean of a partition's rows: half a chunk, because lengths differ if keys have equals.
  static constexpr std::uint64_t mean_partition_rows(int row_bytes) {
    return chunk_rows(row_bytes) / 2;
  }
  /// Maximum of that mean, if the 8,192 partitions of one pass then suffice.
  static constexpr std::uint64_t max_mean_partition_rows(int row_bytes) {
    return chunk_rows(row_bytes) / 5 * 4;
  }
  static constexpr std::uint64_t partitions_per_pass = 8192;
  /// Rows that a thread finds slots for before it merges any: what registers hold, or a CPU's L1.
  static constexpr int batch(int row_bytes) {
    if (!is_device) return row_bytes <= 16 ? 256 : 4096 / row_bytes;
    return row_bytes <= 8 ? 8 : Kokkos::clamp(64 / row_bytes, 1, 4);
  }
  /// Probes of slots or buckets after which a row overflows, when rows are aggregated first.
  static constexpr std::uint32_t probe_length = is_device ? 4 : 8;
  // Fixed-capacity partitions (aggregate_partitions.hpp), on GPUs:
  /// Threads of a team that aggregates a partition, with two teams per multiprocessor; and rows
  /// that a thread finds slots for at once. 32 registers hold keys of 4 bytes with their counts.
  static constexpr int partition_threads(int row_bytes) { return row_bytes <= 8 ? 1024 : 512; }
  static constexpr int partition_batch(int row_bytes) {
    return row_bytes <= 8 ? 4 : Kokkos::clamp(64 / row_bytes, 1, 4);
  }
  /// Probes of buckets after which a row's partition is deferred to a larger table.
  static constexpr std::uint32_t partition_probes = 32;
  /// Probes of buckets after which a row is deferred to the next round.
  static constexpr std::uint32_t max_probes = 64;
  /// Keys that are sampled to decide whether rows are aggregated first. On GPUs, min_equal of them
  /// must equal another one: 3 in 100 do if about 17,000 keys are equally frequent, which a table
  /// just holds.
  static constexpr std::uint32_t sample = 1024, min_equal = 31;
  /// Rows from which on a sample is worth its wait.
  static constexpr std::uint64_t min_sampled_rows = 65536;
};

}  // namespace karpos::detail::reduce_by_key
