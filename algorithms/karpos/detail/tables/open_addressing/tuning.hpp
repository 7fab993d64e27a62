// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/space.hpp"

namespace karpos::detail::open_addressing {

/// Constants of the open-addressing tables by execution space, each with its measurement;
/// `bucket_bytes` is part of the layout. A table segment is what a team (CUDA: a block) holds in
/// its scratch (shared memory).
template <class ExecSpace>
struct tuning {
  /// Bytes of a bucket. H200, random reads of 2 GiB: 32 bytes 43.7 G/s, 64 bytes 25.8 G/s. CPU: a
  /// cache line is fetched whole, so that a bucket of 64 bytes costs what a single slot costs.
  static constexpr int bucket_bytes = device::sector_bytes<ExecSpace>;
  /// Keys between the prefetch of a key's bucket and its use, per CPU thread. 2^26 keys, two
  /// threads: without prefetch 78 M finds/s, 64 ahead 176. GPUs hide latency with threads.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 64;
  /// Whether to read a matched slot again. On CPUs, extracting it from a vector register costs a
  /// third of the rate of hits (2^22 keys, two threads: 152 M hits/s, 219 with the second read).
  static constexpr bool reread_slots = !device::is_device<ExecSpace>;

  /// Whether insertions set overflow marks on their way, instead of once they have found a slot,
  /// and do not check whether the table is full, as long as no blocking call has seen keys refused.
  /// The check takes 38 registers of a GPU's thread instead of 30. H200, 2^27 pairs of 4+4 bytes,
  /// load 0.5 / 0.8 / 0.9, shares of the rate of compare-and-swaps: 0.92 / 0.85 / 0.77 with eager
  /// marks, 0.86 / 0.75 / 0.65 with the check, and 0.72 / 0.70 / 0.65 with the check and registers
  /// bounded to 32.
  static constexpr bool eager_marks = device::is_device<ExecSpace>;

  /// Whether insertions may go by segments (run.hpp). On 16 CPU cores, 2^26 pairs
  /// are inserted at 418 M/s if they are split first, at 568 in the caller's order: splitting costs
  /// more than the cache misses that pipelines overlap.
  static constexpr bool has_segments = device::is_device<ExecSpace>;
  /// Whether insertions do so by default: only with as much scratch as was measured.
  static constexpr bool prefers_segments = device::max_scratch_bytes<ExecSpace> > 64 * 1024;
  /// Threads of a team, and teams on a multiprocessor: one, whose scratch is one segment. H200,
  /// 2^27 pairs, load 0.8, before rows were placed by counters: 25.9 G/s; two teams of 512 threads
  /// with half a segment each 22.6, of 1,024 threads 24.7.
  static constexpr int segment_threads = device::is_device<ExecSpace> ? 1024 : 1;
  static constexpr int segment_teams = 1;
  static constexpr int segment_scratch_bytes = device::max_scratch_bytes<ExecSpace>;
  /// Returns how many rows of row_bytes bytes a thread, of 64 registers, loads before it uses one.
  static constexpr int segment_batch(std::size_t row_bytes) { return row_bytes <= 8 ? 8 : 4; }
  /// Partitions that rows are split into in one pass at most, and segments of each.
  static constexpr std::uint64_t max_partitions =
      static_cast<std::uint64_t>(partition::tuning<ExecSpace>::max_partitions(false));
  static constexpr std::uint64_t max_segments_per_partition = 8;
  /// Partitions that rows are split into in two passes at most, 256 in each pass.
  static constexpr std::uint64_t max_partitions_of_two_passes = 256 * 256;
  /// Partitions up to which rows are split in one pass. H100: 2^27 rows of 8 bytes, one pass into
  /// 4,900 and 6,200 partitions 2.37 and 2.57 ms, two passes 2.1 ms; 2^26 rows of 16 bytes 1.86 and
  /// 2.04 ms, two passes 1.8 ms. H200, one pass with counting, 2^27 rows into 256, 1,024 and 4,096
  /// partitions: 1.04, 1.15 and 2.02 ms, so that about 2,048 cost two passes; in between it was not
  /// measured.
  static constexpr std::uint64_t max_partitions_of_one_pass = 2048;
  /// Tables of fewer bytes stay in the last-level cache (60 MB on an H200), where insertions one by
  /// one are as fast.
  static constexpr std::uint64_t min_segmented_table_bytes = std::uint64_t(128) << 20;
  /// Bytes of the table per row at most: every segment is read and written, whatever is inserted.
  /// H200, 2^25 pairs of 4+4 bytes into 2 GiB: 11.4 G/s, 13.4 one by one; 2^24 of 8+8: 6.5 and
  /// 11.4.
  static constexpr std::uint64_t max_table_bytes_per_row = 40;
  /// Bytes of the table per row from which on rows go by regions if the table holds keys. H100,
  /// 2^27 slots of 4+4 bytes, by segments and by regions: 20 bytes a row 15.7 and 15.5 G/s, 30
  /// bytes 12.1 and 13.4, 32 bytes 16.3 and 18.1 (load 0.8, 0.8, 0.5); 16 bytes, one key in half of
  /// the rows, 14.5 and 24.5. With 15 bytes segments insert 19.4 G/s.
  static constexpr std::uint64_t min_regional_bytes_per_row = 16;
  /// Returns whether a table of such rows is rehashed faster by segments than slot by slot, with
  /// the allocation of the workspace. H200, load 0.8: 2^27 rows of 8 bytes 7.3 and 9.2 ms, 2^26 of
  /// 16 bytes 7.2 and 5.5. The latter go by segments only to keep the order of keys.
  static constexpr bool reinserts_faster(std::size_t row_bytes) { return row_bytes <= 8; }
};

}  // namespace karpos::detail::open_addressing
