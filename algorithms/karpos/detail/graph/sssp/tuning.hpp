// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/graph/frontier/tuning.hpp"

namespace karpos::detail::sssp {

/// Constants of sssp by execution space, in addition to those of frontier/tuning.hpp.
template <class ExecSpace>
struct tuning : frontier::tuning<ExecSpace> {
  /// Smallest degree that a team expands: each of its tiles then has the edges of one step. Most of
  /// a Kronecker graph's edges belong to vertices of degree 256 to 4,096.
  static constexpr std::uint64_t team_degree =
      device::is_device<ExecSpace> ? 4096 : frontier::tuning<ExecSpace>::team_degree;
  /// Entries of a bin. Each tile has two: one for the near queue and one for the far queue.
  static constexpr int bin_entries = device::is_device<ExecSpace> ? 128 : 2048;
  /// Returns the automatic width of a bucket, from the mean weight and degree. Wide buckets have
  /// fewer rounds, but expand more vertices in vain. GPUs have threads to spare when few vertices
  /// are expanded at once, as in graphs of low degree. Weights 1 … 255, edges probed per edge of
  /// the graph: Kronecker 22 (mean degree 31) 1.1 with a width of 4, 1.24 with 8, 1.74 with 20,
  /// 1.93 with 40 (5.07, 5.02, and more, ms on an H200); grid 4096^2 (2.8) 1.36 with 1,045, 2.1
  /// with 4,000, 3.2 with 8,000, 5.4 with 16,000 (55.9, 42.3, 40.4, 52.2 ms). 16 CPU cores, grid
  /// 2048^2: 56.6 ms with 1,045, 56.0 with 2,000; in another run 46.3 with 3,000 and 43.5 with
  /// 1,045.
  static double delta(double weight, double degree) {
    double const wide =
        device::is_device<ExecSpace> ? 1000 / (degree * degree * degree) : 64 / (degree * degree);
    return weight * Kokkos::max(wide, 1.0 / 64);
  }
  /// Quartile ratio above which weights count as spread over decades. The mean is then that of a
  /// few heavy edges: a bucket of that width holds most of the graph, and its vertices are expanded
  /// again and again. The width is then at most the weight below which light_fraction(degree) of
  /// the edges lie. That fraction is below the one that connects the graph: half of the edges for a
  /// grid, 1 / degree for a random graph. Weights over 30 decades, edges probed per edge of the
  /// graph on two CPU threads, with the mean and with this limit: grid 400^2 142, and 3.7 or less;
  /// random graphs of 2^17 vertices of mean degree 4: 18 and 8.1; of 2^15 vertices of mean degree
  /// 32: 7.8 and 1.3. Weights of 0 count as the lightest: the grid with 0 for half of its edges,
  /// the others uniform, 44 with the mean and 2.6 with this limit.
  static constexpr double spread = 100;
  static double light_fraction(double degree) { return Kokkos::min(0.47, 2 / degree); }
  /// Returns the automatic reach: about the smallest weight among the edges of two vertices of mean
  /// degree, which is how far most vertices are from the hubs. Graphs of low degree, or without
  /// hubs, have none: uniform 22 (32 edges a vertex) takes 6.6 ms, and 14.3 with a reach; Kronecker
  /// 22 takes 5.0 without and 3.0 with it (H100), Kronecker 20 53.5 and 27 (16 CPU cores).
  /// neighbour_degree: the mean degree of an edge's end.
  static constexpr double reach_degree = 16;
  static double reach(double weight, double degree, double neighbour_degree) {
    return neighbour_degree >= 4 * degree ? 2 * weight / degree
                                          : Kokkos::Experimental::infinity_v<double>;
  }
  /// Returns the width of a bucket if the graph has a reach: half of it, on every space. Kronecker
  /// 22, H100: 3.0 ms, 2.9 with a quarter of it, 3.5 with all; Kronecker 20, 16 CPU cores: 26.8,
  /// 29.8, 28.0.
  static double delta_of_reach(double reach) { return reach / 2; }
  /// The reach is measured from where 1 / reach_start_divisor of all edges have been pushed.
  static constexpr std::uint64_t reach_start_divisor = 128;
  /// Passes of pulling, at most; then the remaining vertices are pushed.
  static constexpr std::uint32_t max_passes = 32;
  /// A heuristic: if the first pass probes more than 1 / first_pass_divisor of the edges, CPUs push
  /// the remaining vertices at once, since further passes probe many edges, too. One thread,
  /// 200,000 vertices, 2 million edges whose ends are drawn with the weights rank^-0.7: 58 ms, 72
  /// with further passes, 48 without a reach. Kronecker 18 (10 % in the first pass) and rank^-0.9
  /// (18 %) pull on: 39 and 29 ms, without a reach 62 and 40. Not measured on GPUs, which pull on.
  static constexpr std::uint64_t first_pass_divisor = device::is_device<ExecSpace> ? 1 : 3;
  /// If a bucket has fewer edges per team than this, the next one is wider.
  static constexpr std::uint64_t few_edges = 1024;
  /// Vertices of a narrow frontier per team, at most; and entries of each of a team's two queues.
  /// Grid 2048^2 on two CPU threads: 398 ms with 1,024 vertices, 230 to 263 with 4,000. On 16,
  /// whose frontiers are narrow with either: 49 and 50 ms.
  static constexpr std::uint32_t team_width = device::is_device<ExecSpace> ? 128 : 4000;
  static constexpr std::uint32_t team_queue_entries = device::is_device<ExecSpace> ? 1024 : 4096;
  static_assert(team_queue_entries > team_width);
};

}  // namespace karpos::detail::sssp
