// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::partition {

/// Constants of a partition by execution space.
template <class ExecSpace>
struct tuning {
  /// Threads of a team: the largest block, because long tiles have long runs for each partition.
  static constexpr int threads = device::is_device<ExecSpace> ? 1024 : 1;
  /// Teams that share a multiprocessor.
  static constexpr int teams_at_once = 1;
  /// Threads whose rows are adjacent: those of a warp.
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));
  /// Counters per partition in a team: one, or one per warp.
  KOKKOS_FUNCTION static constexpr int groups(bool stable) { return stable ? threads / width : 1; }
  /// Bytes per partition: its counters, and where its rows go, in 32 bits unless stable.
  KOKKOS_FUNCTION static constexpr int counter_bytes(bool stable) {
    return (stable ? 8 : 4) + 4 * groups(stable);
  }
  /// Scratch of a team: all that there is, for counters of partitions and a tile of rows.
  static constexpr int scratch_bytes =
      device::is_device<ExecSpace> ? device::max_scratch_bytes<ExecSpace> : 64;
  /// Rows of a tile that a thread holds in registers, by the bytes that it loads of each: it has 64
  /// registers in all. H200, 2^27 rows into fixed-capacity partitions, 256 and 4,096 of them, ms:
  /// 24 keys with row numbers 0.67 and 1.35, 20 of them 0.65 and 1.42; 16 pairs 0.88 and 1.74, 12
  /// of them 0.84 and 1.75.
  static constexpr int rows_each(bool stable, int loaded_bytes) {
    return loaded_bytes <= 4   ? (stable ? 20 : 24)
           : loaded_bytes <= 8 ? (stable ? 15 : 12)
                               : Kokkos::clamp(128 / loaded_bytes, 1, 8);
  }
  /// Partitions that a thread reserves space in at once, so that its atomics on global memory
  /// overlap. Eight results would not stay in its registers beside the rows.
  static constexpr int partitions_each = 4;
  /// Partitions of one pass, a power of two. On CPUs each buffers a cache line: 512 KiB, which the
  /// second-level cache still holds. On GPUs their counters take at most half of the scratch.
  static constexpr int max_partitions(bool stable) {
    if (!device::is_device<ExecSpace>) return 8192;
    auto const available = static_cast<unsigned>(scratch_bytes / 2 / counter_bytes(stable));
    return Kokkos::min(stable ? 256 : 8192, static_cast<int>(std::bit_floor(available)));
  }
  /// Threads of a team that sorts tiles of rows of row_bytes. If the scratch beside the counters
  /// and the held rows has space for fewer rows than `threads`, fewer threads.
  static constexpr int tile_threads(bool stable, int row_bytes, int held_bytes) {
    int const available =
        scratch_bytes - 16 - max_partitions(stable) * counter_bytes(stable) - held_bytes;
    return Kokkos::min(threads, static_cast<int>(std::bit_floor(
                                    static_cast<unsigned>(Kokkos::max(available / row_bytes, 1)))));
  }
  /// Rows from which on another team pays off.
  static constexpr std::uint64_t min_rows_each = device::is_device<ExecSpace> ? 4096 : 16384;
  /// Rows that a CPU thread buffers before it writes full lines. 2^24 rows of 8 bytes, one thread
  /// of an Intel Xeon, ns a row with 256 and 4,096 partitions: a branch at each row 2.9 and 3.1;
  /// batches of 32 rows 2.2 and 2.75, 64 2.1 and 2.6, 128 1.85 and 2.25, 256 1.9 and 2.3.
  static constexpr int batch_rows = 128;
  /// Bytes of output from which on CPUs write full lines past the caches.
  static constexpr std::uint64_t min_streamed_bytes = std::uint64_t(16) << 20;
  /// Teams that share a multiprocessor in each of two passes (split.hpp). H100, 2^27
  /// rows of 12 bytes of both sides of a join, 1, 2 and 4 teams: 5.96, 5.89 and 6.32 ms.
  static constexpr int teams_of_two_passes = 2;
};

/// Constants for passes with at most 256 partitions, whose runs are long in short tiles, too.
/// Several teams share a multiprocessor, so that some wait for memory while others sort.
template <class ExecSpace, int Teams>
struct tuning_of_few_partitions : tuning<ExecSpace> {
  using of_many = tuning<ExecSpace>;
  static constexpr int max_partitions_each = 256;
  static constexpr int teams_at_once = Teams, threads = of_many::threads / Teams;
  /// Bytes of shared memory that the machine takes for itself per team.
  static constexpr int reserved_bytes = 1536;
  static constexpr int scratch_bytes =
      (of_many::scratch_bytes + reserved_bytes) / Teams / 256 * 256 - reserved_bytes;
  static constexpr int tile_threads(bool stable, int row_bytes, int held_bytes) {
    int const available =
        scratch_bytes - 16 - max_partitions_each * of_many::counter_bytes(stable) - held_bytes;
    return Kokkos::min(threads, static_cast<int>(std::bit_floor(
                                    static_cast<unsigned>(Kokkos::max(available / row_bytes, 1)))));
  }
};

}  // namespace karpos::detail::partition
