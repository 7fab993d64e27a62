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
  /// Neighbouring rows of the output that are written after one search for the first of them. GPUs have many threads, and
  /// write side by side what neighbouring threads do.
  static constexpr std::uint64_t slice_rows = device::is_device<ExecSpace> ? 4 : 1024;

  // Of a partitioned join:

  /// Threads of a team: the one on a multiprocessor, whose scratch is one table.
  static constexpr int threads = device::is_device<ExecSpace> ? 1024 : 1;
  /// Bytes of the table of a part: all the scratch that there is; on CPUs a third of what is used of the second-level cache,
  /// for a part's rows are read from it, too.
  static constexpr std::size_t table_bytes = static_cast<std::size_t>(
      device::is_device<ExecSpace> ? device::max_scratch_bytes<ExecSpace> / 256 * 256 : 96 * 1024);
  /// Right rows of a part on average, of a hundred that its table holds: parts differ in length where rows have equals.
  static constexpr std::uint64_t mean_percent = 80;
  /// Left rows that a team looks up before the next one fills the table again, of those that the table holds.
  static constexpr std::uint64_t chunk_tables = 4;
  /// Rows that a thread reads before it puts them into the table or looks them up, and takes places for what they become: GPUs
  /// as many as there are registers for.
  KOKKOS_FUNCTION static constexpr int batch(std::size_t row_bytes) {
    return !device::is_device<ExecSpace> ? 256 : row_bytes <= 8 ? 8 : 4;
  }
  /// The same of rows whose columns travel with them: their values take registers, too. H100, 2^27 rows with two columns a side:
  /// joining 2.55 ms, with batches of 8 rows 2.94.
  static constexpr int carrying_batch = device::is_device<ExecSpace> ? 4 : 256;
  /// Bits of a part up to which GPUs split in one pass: runs of a part in a tile are too short beyond. H100, splitting both sides
  /// in one pass and in two, ms: 2^26 rows of 8 bytes, 2^11 parts 1.24 and 1.62; 2^27, 2^12 parts 3.37 and 3.24; 2^26 rows of 12
  /// bytes, 2^12 parts 3.85 and 2.96, 2^27, 2^13 parts 10.6 and 5.9; 2^26 of 16 bytes, 2^12 parts 4.13 and 3.26.
  static constexpr int one_pass_bits(std::size_t row_bytes) { return row_bytes <= 8 ? 12 : 11; }
  /// Rows of both tables from which on they are split: below that an index is built as fast.
  static constexpr std::uint64_t min_split_rows = 1 << 17;
};

}  // namespace karpos::detail::join
