// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"
#include "karpos/device/tile.hpp"

namespace karpos::device {

/// Threads that share scratch memory (CUDA: shared memory) and have barriers: a block on GPUs, one
/// thread on CPUs. All teams that run a step together are a league (CUDA: a grid). Within a step no
/// team waits for another one. All threads of a team call its collectives together: barrier, any,
/// append and prefix_sum.
template <class ExecSpace>
class team {
 public:
  /// The native part's representation of a team.
  using handle = typename native_part<ExecSpace>::team_handle;
  /// Bytes at the front of the scratch that the collectives of a team need.
  static constexpr std::size_t reserved_bytes = handle::reserved_bytes;

  KOKKOS_FUNCTION explicit team(handle const& h) : m_handle(h) {}

  KOKKOS_FUNCTION int league_rank() const { return m_handle.league_rank(); }
  KOKKOS_FUNCTION int league_size() const { return m_handle.league_size(); }
  KOKKOS_FUNCTION int rank() const { return m_handle.rank(); }
  KOKKOS_FUNCTION int size() const { return m_handle.size(); }
  KOKKOS_FUNCTION std::byte* scratch() const { return m_handle.scratch(); }

  /// Returns the number of tiles (cooperative groups) of W lanes in a team.
  template <int W>
  KOKKOS_FUNCTION int tiles() const {
    return size() / tile_threads<ExecSpace, W>;
  }
  /// Returns the index in the team of the tile that this thread belongs to.
  template <int W>
  KOKKOS_FUNCTION int tile_rank() const {
    return rank() / tile_threads<ExecSpace, W>;
  }
  template <int W>
  KOKKOS_FUNCTION tile_for<ExecSpace, W> this_tile() const {
    return m_handle.template this_tile<W>();
  }

  /// Returns the scratch of this tile. The first team_bytes of scratch belong to the whole team;
  /// each tile has tile_bytes after them.
  template <int W>
  KOKKOS_FUNCTION std::byte* tile_scratch(std::size_t team_bytes, std::size_t tile_bytes) const {
    return scratch() + team_bytes + tile_bytes * static_cast<std::size_t>(tile_rank<W>());
  }

  /// Waits for all threads of the team. What they wrote to scratch is visible from here on.
  KOKKOS_FUNCTION void barrier() const { m_handle.barrier(); }

  /// Returns whether `yes` holds on any of the team's threads. A barrier.
  KOKKOS_FUNCTION bool any(bool yes) const { return m_handle.any(yes); }

  /// Adds the number of threads for which `yes` holds to a word of scratch, with one addition for
  /// each warp that has such threads. With Kokkos alone (KARPOS_NATIVE=generic, and GPUs without a
  /// native part) each such thread adds. No barrier: the total is known after one.
  /// Returns: to each of these threads a distinct index, from the word's old value on. What the
  /// other threads get is unspecified.
  /// Requires: `counter` was set before a barrier.
  KOKKOS_FUNCTION std::uint32_t append(std::uint32_t* counter, bool yes) const {
    return m_handle.append(counter, yes);
  }

  /// Runs f(i) for every i in [0, n), each on one tile of the league. GPUs deal indices
  /// round-robin. On CPUs, shared counters divide the first eight calls in a step of a program
  /// dynamically. Later calls, and all calls in for_each_in_league, are divided evenly.
  /// Requires: every team of the league makes the same calls in the same order.
  template <int W, class F>
  KOKKOS_FUNCTION void for_each_tile(std::uint64_t n, F const& f) {
    deal<W>(n, league_rank() * tiles<W>() + tile_rank<W>(), f);
  }
  /// Does what for_each_tile does, but GPUs deal neighbouring indices to different teams: for few
  /// indices that are much work each, which then keep many multiprocessors busy
  /// (perf/results/h100/distributed.md). for_each_tile lets a team read neighbouring memory.
  template <int W, class F>
  KOKKOS_FUNCTION void for_each_tile_across_teams(std::uint64_t n, F const& f) {
    deal<W>(n, tile_rank<W>() * league_size() + league_rank(), f);
  }

  /// Returns the sum of v over the threads of the team before this one; `total` is the sum over all
  /// threads. Ends with a barrier.
  KOKKOS_FUNCTION std::uint64_t prefix_sum(std::uint64_t v, std::uint64_t& total) const {
    return m_handle.prefix_sum(v, total);
  }

 private:
  /// Deals indices round-robin to the tiles of the league; `first` is this tile's first index.
  template <int W, class F>
  KOKKOS_FUNCTION void deal(std::uint64_t n, [[maybe_unused]] int first, F const& f) {
    if constexpr (is_device<ExecSpace>) {
      for (auto i = static_cast<std::uint64_t>(first); i < n;
           i += static_cast<std::uint64_t>(league_size() * tiles<W>()))
        f(i);
    } else {
      KOKKOS_IF_ON_HOST((m_handle.divide(n, f);))
    }
  }

  handle m_handle;
};

// A thread's rank in its team, and the team's number of threads, as kernels compute indices.
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t rank(Team const& t) {
  return static_cast<std::uint32_t>(t.rank());
}
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t size(Team const& t) {
  return static_cast<std::uint32_t>(t.size());
}

}  // namespace karpos::device
