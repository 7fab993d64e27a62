// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::connected_components {

template <class ExecSpace>
struct tuning {
  /// Lanes of a tile: a warp; on CPUs the number of vertices whose memory accesses overlap.
  static constexpr int width = 32;
  /// Shortest row that a tile handles together, and shortest row that all tiles do.
  static constexpr std::uint64_t tile_degree =
      device::is_device<ExecSpace> ? 32 : ~std::uint64_t(0);
  static constexpr std::uint64_t grid_degree = 4096;
  /// Whether every walk to a root shortens its path (perf/results/components_and_paths.md).
  static constexpr bool splits_paths = device::is_device<ExecSpace>;
  /// CPUs: tiles that a thread handles in a turn.
  static constexpr std::uint64_t tiles_per_turn = 64;
  /// Component ids in the sample that is searched for the most frequent one.
  static constexpr std::uint64_t samples = 512;
  /// Tiles per processor that share the longest rows: about as many as run concurrently.
  static constexpr std::uint64_t tiles_per_processor = device::is_device<ExecSpace> ? 64 : 4;
};

}  // namespace karpos::detail::connected_components
