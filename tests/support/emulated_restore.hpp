// SPDX-License-Identifier: Apache-2.0
/// \file
/// Recorded splits on a device that a CPU emulates. Include emulated_space.hpp first.
#pragma once

#include "karpos/detail/relational/partition/restore.hpp"
#include "support/emulated_space.hpp"

namespace karpos::detail::partition {

/// Teams of as many threads as the emulated device has, so that the host knows their tiles.
template <>
struct tuning_of_few_partitions<karpos_test::emulated_space, 2>
    : tuning<karpos_test::emulated_space> {
  static constexpr int threads = karpos_test::emulated_space::threads, max_partitions_each = 256;
  static constexpr int scratch_bytes = 24 * 24 * 8 + 256 * 8 + 64;
  static constexpr int tile_threads(bool, int, int) { return threads; }
};

}  // namespace karpos::detail::partition
