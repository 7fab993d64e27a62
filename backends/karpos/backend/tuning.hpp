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
  /// Threads of a team that divides or builds.
  static constexpr int threads = is_cuda<ExecSpace> ? 512 : 1;
};

}  // namespace karpos
