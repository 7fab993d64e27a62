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
  /// Threads of a team: one block of as many as there can be has the longest tiles, and so the longest runs of a part.
  static constexpr int threads = device::is_device<ExecSpace> ? 1024 : 1;
  /// Of these on a multiprocessor.
  static constexpr int teams_at_once = 1;
  /// Threads whose rows are neighbours: those of a warp.
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));
  /// Counters of a part in a team: one, or one for each warp.
  KOKKOS_FUNCTION static constexpr int groups(bool stable) { return stable ? threads / width : 1; }
  /// Of a part: its counters, and where its rows go, in 32 bits but where they are stable.
  KOKKOS_FUNCTION static constexpr int counter_bytes(bool stable) {
    return (stable ? 8 : 4) + 4 * groups(stable);
  }
  /// Scratch of a team, all that there is: for counters of parts, and for a tile of rows.
  static constexpr int scratch_bytes =
      device::is_device<ExecSpace> ? device::max_scratch_bytes<ExecSpace> : 64;
  /// Rows of a tile that a thread holds in registers, by the bytes that it loads of each: 64 registers are all it has. H200,
  /// 2^27 rows in rooms, 256 and 4,096 parts, ms: 24 keys with their numbers 0.67 and 1.35, 20 0.65 and 1.42; 16 pairs 0.88
  /// and 1.74, 12 0.84 and 1.75.
  static constexpr int rows_each(bool stable, int loaded_bytes) {
    return loaded_bytes <= 4   ? (stable ? 20 : 24)
           : loaded_bytes <= 8 ? (stable ? 15 : 12)
                               : Kokkos::clamp(128 / loaded_bytes, 1, 8);
  }
  /// Parts that a thread takes room for at once, so that its additions in memory overlap: eight answers would not stay in its
  /// registers beside the rows.
  static constexpr int parts_each = 4;
  /// Parts of one pass, a power of two. On CPUs each has a line of its own that waits to be full: 512 KiB, which the
  /// second-level cache still holds. On GPUs their counters take half of the scratch at most.
  static constexpr int max_parts(bool stable) {
    if (!device::is_device<ExecSpace>) return 8192;
    auto const room = static_cast<unsigned>(scratch_bytes / 2 / counter_bytes(stable));
    return Kokkos::min(stable ? 256 : 8192, static_cast<int>(std::bit_floor(room)));
  }
  /// Threads of a team that sorts tiles of such rows, or groups of rows: no more than have room for one each, beside the
  /// counters and what is held back.
  static constexpr int tile_threads(bool stable, int row_bytes, int held_bytes) {
    int const room = scratch_bytes - 16 - max_parts(stable) * counter_bytes(stable) - held_bytes;
    return Kokkos::min(
        threads,
        static_cast<int>(std::bit_floor(static_cast<unsigned>(Kokkos::max(room / row_bytes, 1)))));
  }
  /// Rows that are worth a team.
  static constexpr std::uint64_t min_rows_each = device::is_device<ExecSpace> ? 4096 : 16384;
  /// Rows that fill lines of a CPU thread before full ones are written. 2^24 rows of 8 bytes, one thread of an Intel Xeon, ns
  /// a row with 256 and 4,096 parts: a branch at each row 2.9 and 3.1; batches of 32 rows 2.2 and 2.75, 64 2.1 and 2.6, 128
  /// 1.85 and 2.25, 256 1.9 and 2.3.
  static constexpr int batch_rows = 128;
  /// Rows that are written past the caches of CPUs: from so many bytes on.
  static constexpr std::uint64_t min_streamed_bytes = std::uint64_t(16) << 20;
  /// Teams of a multiprocessor in each of two passes (rooms.hpp). H100, 2^27 rows of 12 bytes of both sides of a join, 1, 2 and 4:
  /// 5.96, 5.89 and 6.32 ms.
  static constexpr int teams_of_two_passes = 2;
};

/// The same for at most 256 parts, whose runs are long in short tiles, too: several teams of a multiprocessor, of which some wait
/// for memory while others sort.
template <class ExecSpace, int Teams>
struct tuning_of_few_parts : tuning<ExecSpace> {
  using of_many = tuning<ExecSpace>;
  static constexpr int max_parts_each = 256;
  static constexpr int teams_at_once = Teams, threads = of_many::threads / Teams;
  /// What the machine takes for each team.
  static constexpr int lost_bytes = 1536;
  static constexpr int scratch_bytes =
      (of_many::scratch_bytes + lost_bytes) / Teams / 256 * 256 - lost_bytes;
  static constexpr int tile_threads(bool stable, int row_bytes, int held_bytes) {
    int const room =
        scratch_bytes - 16 - max_parts_each * of_many::counter_bytes(stable) - held_bytes;
    return Kokkos::min(
        threads,
        static_cast<int>(std::bit_floor(static_cast<unsigned>(Kokkos::max(room / row_bytes, 1)))));
  }
};

}  // namespace karpos::detail::partition
