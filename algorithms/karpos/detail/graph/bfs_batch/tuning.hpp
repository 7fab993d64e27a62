// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/device/space.hpp"

namespace karpos::detail::bfs_batch {

/// Constants of a batch of searches by execution space. Figures: H200, ms for 64 searches of a
/// Kronecker graph of scale 22 and edge factor 16.
template <class ExecSpace>
struct tuning {
  static constexpr bool on_gpu = device::is_device<ExecSpace>;
  /// Lanes of the tiles that push, list and update.
  static constexpr int width = 32;
  /// One team a multiprocessor: its scratch caches frontier words of vertices of highest degree.
  static constexpr int team_threads = 1024, teams_per_processor = 1;

  /// GPUs: lanes that pull for a vertex, by the length of its row; above the last limit, a team.
  static constexpr int small_lanes = 2, medium_lanes = 4, large_lanes = 32;
  static constexpr std::uint64_t medium_degree = 12, large_degree = 512, team_degree = 16384;
  /// CPUs: neighbours read between two checks whether a row may end early.
  static constexpr int neighbours_at_once = 8;

  /// Edges of an item of the frontier queue, lanes that push them, and edges of a lane at once.
  static constexpr std::uint64_t item_edges = 256;
  static constexpr int push_lanes = on_gpu ? 8 : width;
  static constexpr int edges_at_once = 2;

  /// Words of the frontier bitmap, 32 vertices each, that a tile lists at once.
  static constexpr int list_words = 8;
  static constexpr std::size_t list_bytes = list_words * 32 * sizeof(std::uint16_t);
  /// Scratch of a team in all: frontier words of 24,574 vertices, which leaves 60 KB of first-level
  /// cache (3.96 without these words, 2.00 with them).
  static constexpr std::size_t scratch_bytes =
      on_gpu ? static_cast<std::size_t>(
                   Kokkos::min(24576 * 8, device::max_scratch_bytes<ExecSpace> - 2048))
             : list_bytes;
  /// Scratch of a team if each step is a kernel of Kokkos': these teams have 256 threads at most.
  static constexpr std::size_t launched_scratch_bytes = on_gpu ? 32 * 1024 : list_bytes;

  /// If fewer parts of 15 levels remain in a pass, searches are not run one by one.
  static constexpr std::int64_t min_parts = 4;
  /// In a graph of fewer edges, a level is all barriers (2 busy cores, path of 400: 105 ms for 70
  /// searches in step, 0.8 ms one by one).
  static constexpr std::uint64_t small_edges = std::uint64_t(1) << 15;
  /// Returns whether searches one by one are faster than levels of few vertices in step. CPUs:
  /// always (path of 65,536, one thread: 1.8 ms a search, 1,600 to 3,600 ms a pass). GPUs: if 15
  /// levels of each search take less time than 15 levels in step and the results of a part. The
  /// results read and clear the planes of all vertices: 68 bytes a vertex at 3 TB/s (H100, path of
  /// 65,536: 1.1 us a level one by one, 10 in step).
  static bool is_one_by_one_faster(std::uint64_t vertices, int searches) {
    if constexpr (!on_gpu) return true;
    double const results = double(vertices) * 68 / 3e12;
    return 15 * searches * 1.1e-6 < 15 * 10e-6 + results;
  }
};

}  // namespace karpos::detail::bfs_batch
