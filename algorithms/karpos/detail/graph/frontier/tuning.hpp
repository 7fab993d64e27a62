// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::frontier {

/// Constants that searches share, by execution space, each with its measurement. Figures: H200,
/// Kronecker graphs (scale, edge factor), harmonic mean of GTEPS over 32 sources, `karpos bfs`.
/// "Grid 4096^2" is a mesh of that many vertices. Terms: see frontier.hpp.
template <class ExecSpace>
struct tuning {
  /// Lanes of a tile: a warp on GPUs; on CPUs the number of vertices whose memory accesses overlap.
  static constexpr int tile_width = 32;
  /// Smallest degrees that a tile, a team, the whole grid expands (Enterprise, section 4.2).
  static constexpr std::uint64_t tile_degree = 32, team_degree = 256, grid_degree = 65536;
  /// Threads of a team, and teams of a multiprocessor. (24, 16): 1,024 x 1 gives 776 GTEPS, 768 x 1
  /// 684, 512 x 1 501. 512 x 2 has twice as many blocks at each grid barrier: (20, 16) 206 instead
  /// of 252.
  static constexpr int team_threads = 1024, teams_per_processor = 1;

  /// Neighbours that a lane claims at once, top-down; on CPUs the size of chunks.
  static constexpr int neighbours_at_once = device::is_device<ExecSpace> ? 4 : 8;
  /// Whether the lanes of a tile balance the edges of its vertices among them. If not, they go row
  /// after row, top-down and bottom-up, as CPUs do. Uniform 22 on the H200: the three top-down
  /// levels take 85 us balanced, and 191 us with a lane for each vertex.
  static constexpr bool balances_lanes = device::is_device<ExecSpace>;
  /// Whether a chunk of vertices of low degree may have fewer vertices than a tile has lanes, so
  /// that no tile of the grid idles. Not on CPUs: their tiles are loops, and short loops overlap
  /// fewer memory accesses.
  static constexpr bool splits_chunks = device::is_device<ExecSpace>;
  /// Most edges per vertex of a small or narrow frontier; most edges of a vertex for one lane.
  static constexpr std::uint32_t small_frontier_degree = 8, lane_degree = 64;
  /// Vertices of a tile's bin (with 128 instead of 256, uniform 22 loses 5 %).
  static constexpr int bin_entries = device::is_device<ExecSpace> ? 256 : 2048;
  /// Lanes that check the edges of a vertex in validate_bfs. A hub may have a million edges, which
  /// a warp shares; a CPU has few threads, and each is faster without a tile.
  static constexpr int validation_width = Kokkos::min(32, device::warp_width<ExecSpace>);
};

}  // namespace karpos::detail::frontier
