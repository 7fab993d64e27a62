// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::bfs {

/// Constants of the search. Figures: H200, Kronecker graphs (scale, edge factor), harmonic mean over 32 sources, `karpos bfs`. by execution space, each with the measurement behind it.
template <class ExecSpace>
struct tuning {
  /// Lanes of a tile: a warp; on CPUs the number of vertices whose memory accesses overlap.
  static constexpr int tile_width = 32;
  /// Degrees from which on a vertex is expanded by a tile, a team, the whole grid (Enterprise, section 4.2).
  static constexpr std::uint64_t tile_degree = 32, team_degree = 256, grid_degree = 65536;
  /// Threads of a team and teams of a multiprocessor. (24, 16): 1,024 x 1 gives 776 GTEPS, 768 x 1 684, 512 x 1 501;
  /// 512 x 2 has twice as many blocks to meet: (20, 16) 206 instead of 252.
  static constexpr int team_threads = 1024, teams_per_processor = 1;

  /// Neighbours that a lane claims at once, top-down.
  static constexpr int neighbours_at_once = device::is_device<ExecSpace> ? 4 : 8;
  /// Whether the lanes of a tile share the edges of the rows of low degree; off: each lane has a row. Uniform 22 on
  /// the H200: the three top-down levels take 191 us by row and 85 us shared.
  static constexpr bool rows_in_turn = device::is_device<ExecSpace>;
  /// Frontiers of no more vertices and edges per vertex, all of low degree, are expanded by a step of their own that
  /// has fewer instructions (grid 4096^2: 47 instead of 66 ms); 0: never.
  static constexpr std::uint32_t narrow_vertices = device::is_device<ExecSpace> ? 16384 : 0;
  static constexpr std::uint32_t narrow_degree = 8;
  /// Frontiers with fewer edges are expanded for low latency, at the price of more atomics.
  static constexpr std::uint64_t eager_edges = device::is_device<ExecSpace> ? 65536 : 0;
  /// Vertices that a tile finds before it places them in the queue (128 instead of 256: uniform 22 loses 5 %).
  static constexpr int bin_entries = device::is_device<ExecSpace> ? 256 : 2048;

  /// Bytes of neighbours that a bottom-up search loads at once: the L1 cache serves one line a cycle, so that 16 bytes
  /// are as cheap as 4 ((24, 16): 776 instead of 698 GTEPS).
  static constexpr int load_bytes = device::is_device<ExecSpace> ? 16 : 1;
  /// Loads of a lane in the first round of a bottom-up search, and before a tile takes over (3 instead of 7: 709).
  static constexpr int first_loads = device::is_device<ExecSpace> ? 1 : 1 << 30;
  static constexpr int lane_loads = device::is_device<ExecSpace> ? 7 : 1 << 30;
  /// Words of 32 vertices that a tile searches bottom-up before it takes new ones: at most (16 and 8: 770 and 738).
  static constexpr int words_at_once = 32;
  /// Words that a thread scans at once.
  static constexpr int scan_words = device::is_device<ExecSpace> ? 1 : 64;
  /// Entries of the cache of hubs, 4 bytes each.
  static constexpr int hub_cache_entries = 2048;
};

}  // namespace karpos::detail::bfs
