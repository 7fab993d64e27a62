// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
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
  /// Width of a bucket, automatic, by the mean weight and degree. Wide ones have fewer rounds, and expand more vertices in vain:
  /// GPUs have threads to spare where few vertices are expanded at once, as in graphs of low degree. Weights 1 … 255, edges
  /// looked at for each edge there is: Kronecker 22 (mean degree 31) 1.1 with a width of 4, 1.24 with 8, 1.74 with 20, 1.93
  /// with 40 (5.07, 5.02, and more, ms on an H200); grid 4096^2 (2.8) 1.36 with 1,045, 2.1 with 4,000, 3.2 with 8,000, 5.4
  /// with 16,000 (55.9, 42.3, 40.4, 52.2 ms). 16 CPU cores, grid 2048^2: 56.6 ms with 1,045, 56.0 with 2,000, 46.3 and 43.5 in
  /// another run with 3,000 and 1,045.
  static double delta(double weight, double degree) {
    double const wide =
        device::is_device<ExecSpace> ? 1000 / (degree * degree * degree) : 64 / (degree * degree);
    return weight * Kokkos::max(wide, 1.0 / 64);
  }
  /// Weights whose quartiles differ by more than this factor spread over decades: their mean is
  /// that of a few heavy edges, and a bucket of that width holds most of the graph, whose vertices
  /// are then expanded again and again. Such a bucket is at most as wide as this part of the edges
  /// is light, below what connects the graph (half of the edges of a grid, 1 / degree of a random
  /// graph's). Weights over 30 decades, edges looked at for each there is on two CPU threads, by
  /// the mean and by the part: grid 400^2 142 and 3.7 or less, 2^17 vertices of mean degree 4 at
  /// random 18 and 8.1, 2^15 of 32 7.8 and 1.3.
  static constexpr double spread = 100;
  static double light_part(double degree) { return Kokkos::min(0.45, 2 / degree); }
  /// The reach, automatic: about the smallest weight among the edges of two vertices of mean degree, which is how far most
  /// vertices are from the hubs. Graphs of low degree, or without hubs, have none: uniform 22 (32 edges a vertex) takes 6.6 ms, and
  /// 14.3 with a reach, Kronecker 22 5.0 and 3.0 (H100); Kronecker 20 53.5 and 27 (16 CPU cores).
  /// beside: the mean degree of an edge's end.
  static constexpr double reach_degree = 16;
  static double reach(double weight, double degree, double beside) {
    return beside >= 4 * degree ? 2 * weight / degree : Kokkos::Experimental::infinity_v<double>;
  }
  /// Widths of a bucket of a graph that has a reach: half of it, on every space. Kronecker 22, H100: 3.0 ms, 2.9 with a quarter of
  /// it, 3.5 with all; Kronecker 20, 16 CPU cores: 26.8, 29.8, 28.0.
  static double delta_of_reach(double reach) { return reach / 2; }
  /// The part of all edges, 1 / this, of which the reach counts on: the hubs are near then.
  static constexpr std::uint64_t edges_before_reach = 128;
  /// Passes of pulling, at most, before the rest is pushed.
  static constexpr std::uint32_t most_passes = 32;
  /// Edges of a bucket for each team below which the next one is wider.
  static constexpr std::uint64_t few_edges = 1024;
  /// Vertices of a narrow frontier for each team, at most, and entries of each of its two queues. Grid 2048^2 on two CPU threads:
  /// 398 ms with 1,024 vertices, 230 to 263 with 4,000; on 16, whose frontiers are narrow with either, 49 and 50 ms.
  static constexpr std::uint32_t team_width = device::is_device<ExecSpace> ? 128 : 4000;
  static constexpr std::uint32_t team_queue_entries = device::is_device<ExecSpace> ? 1024 : 4096;
  static_assert(team_queue_entries > team_width);
};

}  // namespace karpos::detail::sssp
