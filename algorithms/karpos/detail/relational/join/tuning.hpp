// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::join {

/// Constants of a join, by execution space.
template <class ExecSpace>
struct tuning {
  /// Adjacent rows of the output that are written after one search for the first of them. GPUs have
  /// many threads, and neighbouring threads write adjacent rows.
  static constexpr std::uint64_t slice_rows = device::is_device<ExecSpace> ? 4 : 1024;

  // For partitioned joins:

  /// Threads of a team (block). One team per multiprocessor has all scratch for one table.
  static constexpr int threads = device::is_device<ExecSpace> ? 1024 : 1;
  /// Bytes of a partition's table: all the scratch that there is. On CPUs a third of the part of
  /// the second-level cache that is used, because a partition's rows are read from that cache, too.
  static constexpr std::size_t table_bytes = static_cast<std::size_t>(
      device::is_device<ExecSpace> ? device::max_scratch_bytes<ExecSpace> / 256 * 256 : 96 * 1024);
  /// Mean of a partition's rows, in percent of a table's: lengths differ if rows have equals.
  static constexpr std::uint64_t mean_percent = 80;
  /// Left rows that a team looks up in a table that it has filled, in multiples of its rows.
  static constexpr std::uint64_t chunk_tables = 4;
  /// Rows that a thread reads before it inserts them or looks them up, and reserves space for what
  /// they become. On GPUs as many as there are registers for.
  KOKKOS_FUNCTION static constexpr int batch(std::size_t row_bytes) {
    return !device::is_device<ExecSpace> ? 256 : row_bytes <= 8 ? 8 : 4;
  }
  /// Batch of rows with payload columns, whose values take registers, too. H100, 2^27 rows with two
  /// columns a side: joining 2.55 ms, with batches of 8 rows 2.94.
  static constexpr int payload_batch = device::is_device<ExecSpace> ? 4 : 256;
  /// Bits of a partition's number up to which GPUs split in one pass. Beyond, the runs of a
  /// partition in a tile are too short. H100, splitting both sides in one pass and in two, ms: 2^26
  /// rows of 8 bytes, 2^11 partitions 1.24 and 1.62; 2^27, 2^12 partitions 3.37 and 3.24; 2^26 rows
  /// of 12 bytes, 2^12 partitions 3.85 and 2.96, 2^27, 2^13 partitions 10.6 and 5.9; 2^26 of 16
  /// bytes, 2^12 partitions 4.13 and 3.26.
  static constexpr int one_pass_bits(std::size_t row_bytes) { return row_bytes <= 8 ? 12 : 11; }
  /// Rows of both tables from which on they are split. With fewer rows an index is built as fast.
  static constexpr std::uint64_t min_split_rows = 1 << 17;
};

}  // namespace karpos::detail::join
