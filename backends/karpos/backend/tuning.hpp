// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/backend/memory.hpp"

namespace karpos {

/// Constants of an algorithm on an execution space, each with the measurement behind it. Specialise for a
/// new machine; results never depend on them, except that `bucket_bytes` is part of a table's
/// layout.
template <class ExecSpace, class Algorithm>
struct tuning;

/// Tag of the open-addressing tables.
struct open_addressing;

template <class ExecSpace>
struct tuning<ExecSpace, open_addressing> {
  /// Bytes of a bucket. H200, random reads of 2 GiB: 32 bytes 43.7 G/s, 64 bytes 25.8 G/s. CPU: a cache
  /// line is fetched whole, so that a bucket of 64 bytes costs what a single slot costs.
  static constexpr int bucket_bytes = is_cuda<ExecSpace> ? 32 : 64;
  /// Keys between the prefetch of a key's bucket and its use, per CPU thread. 2^26 keys, two threads:
  /// without prefetch 78 M finds/s, 64 ahead 176 M finds/s. GPUs hide latency with threads instead.
  static constexpr int prefetch_distance = is_cuda<ExecSpace> ? 0 : 64;
  /// Whether to read a matched slot again. CPUs: taking it out of a vector register costs a third of all hits
  /// (2^22 keys, two threads: 152 M hits/s, 219 with the second read).
  static constexpr bool reread_slots = !is_cuda<ExecSpace>;
};

/// Tag of the hopscotch tables.
struct hopscotch;

template <class ExecSpace>
struct tuning<ExecSpace, hopscotch> {
  /// Keys between the prefetch of a key's home line and its use, per CPU thread.
  static constexpr int prefetch_distance = is_cuda<ExecSpace> ? 0 : 64;
  /// Threads of a GPU's multiprocessor in kernels that write. Moving keys takes 140 registers, and happens rarely: with
  /// as many, three times fewer threads would wait for memory at once.
  static constexpr unsigned threads_at_once = is_cuda<ExecSpace> ? 1536 : 0;
};

/// Tag of the cuckoo tables.
struct cuckoo_hashing;

template <class ExecSpace>
struct tuning<ExecSpace, cuckoo_hashing> {
  /// Keys between the prefetch of a key's line and its use, per CPU thread.
  static constexpr int prefetch_distance = is_cuda<ExecSpace> ? 0 : 64;
  /// Whether a lookup reads the slots of a line one by one. CPUs compare a whole line as fast.
  static constexpr bool reads_slots = is_cuda<ExecSpace>;
  /// Bytes of a window that a lookup reads at once: a sector of a GPU's memory, a line of a CPU's cache.
  static constexpr int read_bytes = is_cuda<ExecSpace> ? 32 : 64;
  /// Threads of a team that divides, of one that builds, and how many of these a multiprocessor has room for.
  static constexpr int threads = is_cuda<ExecSpace> ? 512 : 1;
  static constexpr int threads_of_builders = is_cuda<ExecSpace> ? 128 : 1;
  static constexpr int builders_at_once = 10;
  /// Threads that play the last rounds of a build alone.
  static constexpr int tile_width = is_cuda<ExecSpace> ? 32 : 1;
};

/// Tag of ranked queries.
struct ranked_query;

template <class ExecSpace>
struct tuning<ExecSpace, ranked_query> {
  static constexpr int team_threads = is_cuda<ExecSpace> ? 512 : 1;
  static constexpr int teams_per_processor = is_cuda<ExecSpace> ? 2 : 1;
  static constexpr int tile_width = is_cuda<ExecSpace> ? 32 : 1;
  /// Entries that a lane reads in a row, and of these at once: so many cache misses overlap.
  static constexpr int entries_of_a_lane = is_cuda<ExecSpace> ? 4 : 256;
  static constexpr int entries_at_once = 4;
  /// Entries between the prefetch of an object's cell and its use, per CPU thread. 10 M objects in anti-correlated lists,
  /// one thread: 300 ms with 32, 220 with 64.
  static constexpr int prefetch_distance = is_cuda<ExecSpace> ? 0 : 64;
  /// Cells that are scanned in the time of reading one where an entry says.
  static constexpr int cells_for_an_entry = is_cuda<ExecSpace> ? 16 : 8;
  /// Factors by which the depth grows from stride to stride. On an H200 a stride costs 15 to 25 us beside its entries, of
  /// which 40,000 are added in a microsecond.
  static constexpr double growth = is_cuda<ExecSpace> ? 2.0 : 1.25;
  static constexpr double growth_shrinking = is_cuda<ExecSpace> ? 2.0 : 1.15;
  /// A growing phase that goes deeper, as a part of the longest list, and survivors, as a part of the objects, make
  /// reading everything the cheaper way.
  static constexpr double deepest_growth = 0.3;
  static constexpr double most_survivors = 1.0 / 12;
  /// Finalists up to which each counts who is ahead of it; more are sorted.
  static constexpr std::uint32_t finalists_in_order = 4096;
  /// The first stride, at least, and as a part of the longest list.
  static constexpr int first_stride = is_cuda<ExecSpace> ? 32768 : 512;
  static constexpr int first_part = is_cuda<ExecSpace> ? 128 : 0;
  /// A stride costs a CPU as much as some thousand entries: Zipf lists of 1 M objects took 0.29 ms with 64, 0.12 with 1,024.
  static constexpr std::uint64_t least_stride = is_cuda<ExecSpace> ? 32768 : 1024;
};

}  // namespace karpos
