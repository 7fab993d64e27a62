// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/device/space.hpp"

namespace karpos::detail::open_addressing {

/// Constants of the open-addressing tables by execution space, each with its measurement; `bucket_bytes` is part of the
/// layout.
template <class ExecSpace>
struct tuning {
  /// Bytes of a bucket. H200, random reads of 2 GiB: 32 bytes 43.7 G/s, 64 bytes 25.8 G/s. CPU: a cache
  /// line is fetched whole, so that a bucket of 64 bytes costs what a single slot costs.
  static constexpr int bucket_bytes = device::sector_bytes<ExecSpace>;
  /// Keys between the prefetch of a key's bucket and its use, per CPU thread. 2^26 keys, two threads:
  /// without prefetch 78 M finds/s, 64 ahead 176 M finds/s. GPUs hide latency with threads instead.
  static constexpr int prefetch_distance = device::is_device<ExecSpace> ? 0 : 64;
  /// Whether to read a matched slot again. CPUs: taking it out of a vector register costs a third of all hits
  /// (2^22 keys, two threads: 152 M hits/s, 219 with the second read).
  static constexpr bool reread_slots = !device::is_device<ExecSpace>;
};

}  // namespace karpos::detail::open_addressing
