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
  /// Rows of both tables from which on they are split: below that an index is built as fast.
  static constexpr std::uint64_t min_split_rows = 1 << 17;
};

}  // namespace karpos::detail::join
