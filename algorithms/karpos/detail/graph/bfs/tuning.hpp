// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/graph/frontier/tuning.hpp"

namespace karpos::detail::bfs {

/// Constants of the search by execution space, in addition to those of frontier/tuning.hpp, which
/// says how the figures were measured. Terms: see frontier/frontier.hpp.
template <class ExecSpace>
struct tuning : frontier::tuning<ExecSpace> {
  /// Most vertices of a small frontier. A step with fewer instructions expands it (grid 4096^2: 47
  /// instead of 66 ms). 0: no frontier is small.
  static constexpr std::uint32_t small_frontier_vertices = device::is_device<ExecSpace> ? 16384 : 0;
  /// Whether CPU threads explore narrow frontiers by local searches (local_search.hpp).
  static constexpr bool has_local_search = !device::is_device<ExecSpace>;
  /// Whether GPU teams explore narrow frontiers, with queues in their scratch
  /// (team_local_search.hpp).
  static constexpr bool has_team_local_search = device::is_device<ExecSpace>;
  /// Stable levels: small frontiers in a row before the first local search. A series of local
  /// searches ends with a pass over all vertices, which must pay off.
  static constexpr std::int32_t stable_levels = 16;
  /// Vertices of a frontier per team, at most: to begin local searches, and to go on with them.
  static constexpr std::uint32_t initial_team_vertices = 64, max_team_vertices = 128;
  /// Hops of the first local search, and of the longest.
  static constexpr std::uint32_t initial_team_hops = 16, max_team_hops = 64;
  /// Local searches without an overflow before their number of hops doubles.
  static constexpr std::uint32_t successes_before_doubling = 8;
  /// Entries of a team's queue, at most.
  static constexpr std::uint32_t team_queue_entries = 2048;
  /// Smallest list capacity of a team. Smaller graphs do not use local searches.
  static constexpr std::uint32_t min_list_capacity = 16;
  /// Hops of a local search. More hops save grid barriers; fewer explore less in vain at the
  /// borders of the slices. Grid 4096^2, one thread: 645 ms with 16 hops, 693 with 32.
  static constexpr std::uint32_t local_search_hops = 16;
  /// Vertices of a slice: few enough that the memory it touches stays in its thread's caches (grid
  /// 4096^2, one thread, 4 KB pages: one slice 1,298 ms, slices of 256 vertices 792, of 64 868).
  /// Slices are narrower only if threads would idle. A frontier that would need wider slices is
  /// wide enough to be expanded level by level.
  static constexpr std::uint32_t target_slice = 256, narrowest_slice = 64, widest_slice = 1024;
  static constexpr std::uint32_t slices_of_team = 8;  // at most
  /// Local searches must find one deferral_divisor-th of all vertices before the commit is
  /// deferred, which ends with a pass over all vertices. The next time they must find twice as
  /// many. 16 cores, grid 4096^2: 64 ms with 32, 66 with 16, 69 with 8.
  static constexpr std::uint64_t deferral_divisor = 32;
  /// A slice whose hop has at most this many vertices goes on, however narrow it was at the start.
  static constexpr std::uint32_t narrow_hop_vertices = 256;
  /// Frontiers with fewer edges are expanded for low latency, by more atomic operations.
  static constexpr std::uint64_t latency_bound_edges = device::is_device<ExecSpace> ? 65536 : 0;

  /// Bytes of neighbours that a bottom-up search loads at once. The L1 cache serves one line a
  /// cycle, so 16 bytes are as cheap as 4 ((24, 16): 776 instead of 698 GTEPS). CPUs go from
  /// neighbour to neighbour.
  static constexpr int load_bytes = device::is_device<ExecSpace> ? 16 : 1;
  /// GPUs: loads of a lane in the first round of a bottom-up search, and in all rounds before a
  /// whole tile takes over (3 instead of 7: 709).
  static constexpr int first_loads = 1;
  static constexpr int lane_loads = 7;
  /// Most bitmap words of 32 vertices that a tile searches bottom-up at once (16, 8: 770, 738).
  static constexpr int words_at_once = 32;
  /// Number of bottom-up probes (of one neighbour each) that cost as much as one top-down claim.
  /// H100, means over 24 or 48 sources with 4, 1, 32 and without: Kronecker (24, 16) 0.66, 0.69,
  /// 0.72, 0.74 ms; (20, 512) 0.29, 0.23, 0.37, 1.15; uniform (20, 64) 0.16, 0.16, 0.34, 0.55. One
  /// CPU thread, uniform (20, 16): 32.5 ms with 4, 34.0 with 16, 34.5 with 2, 36.3 without;
  /// Kronecker (20, 16): 16.0, 16.7, 15.9, 17.2.
  static constexpr int probes_per_claim = 4;
  /// Words that a thread scans at once, and threads of a team that scan together.
  static constexpr int scan_words = device::is_device<ExecSpace> ? 1 : 64;
  static constexpr int scan_threads =
      device::is_device<ExecSpace> ? frontier::tuning<ExecSpace>::team_threads : 1;
  /// Entries of the hub vertex cache, 4 bytes each.
  static constexpr int hub_cache_entries = 2048;
};

}  // namespace karpos::detail::bfs
