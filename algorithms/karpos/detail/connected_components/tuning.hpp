// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::connected_components {

template <class ExecSpace>
struct tuning {
  /// Lanes of a tile: a warp; on CPUs the number of vertices whose memory accesses overlap.
  static constexpr int width = 32;
  /// Edges from which on a tile goes through a row together, and from which on all tiles do.
  static constexpr std::uint64_t tile_row = device::is_device<ExecSpace> ? 32 : ~std::uint64_t(0);
  static constexpr std::uint64_t grid_row = 4096;
  /// Whether every walk to a root shortens its path (perf/results/components_and_paths.md).
  static constexpr bool splits_paths = device::is_device<ExecSpace>;
  /// CPUs: tiles that a thread takes at a time.
  static constexpr std::uint64_t tiles_of_turn = 64;
  /// Labels among which the most frequent one is looked for.
  static constexpr std::uint64_t samples = 512;
  /// Tiles that share the longest rows: as many as run at once, about.
  static constexpr std::uint64_t tiles_of_processor = device::is_device<ExecSpace> ? 64 : 4;
};

}  // namespace karpos::detail::connected_components
