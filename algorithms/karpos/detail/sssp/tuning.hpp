// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/bfs/tuning.hpp"

namespace karpos::detail::sssp {

/// Those of bfs where the steps are its, and these.
template <class ExecSpace>
struct tuning : bfs::tuning<ExecSpace> {
  /// Degree from which on a vertex is expanded by a team: each of its tiles has the edges of one step of it then. Most of a
  /// Kronecker graph's edges are those of vertices of 256 to 4,096.
  static constexpr std::uint64_t team_degree =
      device::is_device<ExecSpace> ? 4096 : bfs::tuning<ExecSpace>::team_degree;
  /// Entries of a tile's bin: one for the near queue and one for the far queue.
  static constexpr int bin_entries = device::is_device<ExecSpace> ? 128 : 2048;
  /// Width of a bucket, automatic: times the mean weight over the square of the mean degree. Wide ones have fewer rounds, and
  /// expand more vertices in vain. Kronecker 16 (mean degree 28, weights 1 … 255), edges looked at for each edge there is: 1.06
  /// with a width of 5, 1.38 with 10 and 20, 1.95 with 40, 2.3 with 73. Grid 512^2 (2.8): 1.03 with 200, 1.13 with 731, 1.43
  /// with 2,000, 3.1 with 8,000.
  static constexpr double delta_factor = 64;
  /// Edges of a bucket for each team below which the next one is wider.
  static constexpr std::uint64_t few_edges = 1024;
  /// Vertices of a narrow frontier for each team, at most, and entries of each of its two queues.
  static constexpr std::uint32_t team_width = device::is_device<ExecSpace> ? 128 : 1024;
  static constexpr std::uint32_t team_queue_entries = device::is_device<ExecSpace> ? 1024 : 4096;
  static_assert(team_queue_entries > team_width);
};

}  // namespace karpos::detail::sssp
