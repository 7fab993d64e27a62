// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/native/cuda.hpp"
#include "karpos/device/tile.hpp"

namespace karpos::device {

/// Times that a step may call `for_each_tile`.
inline constexpr int max_shares = 8;

/// State that steps share, copied into each: for steps that are kernels of their own.
template <class State>
struct state_copy {
  using state = State;
  State value;
  KOKKOS_FUNCTION State const& operator*() const { return value; }
  KOKKOS_FUNCTION State const* operator->() const { return &value; }
};
/// The same where it is: for steps of one kernel, which would copy it to local memory.
template <class State>
struct state_pointer {
  using state = State;
  State const* where;
  KOKKOS_FUNCTION State const& operator*() const { return *where; }
  KOKKOS_FUNCTION State const* operator->() const { return where; }
};

/// Threads that share scratch memory and wait for each other: a block on GPUs, one thread on CPUs, where tiles
/// are loops. A league is all the teams that run a step together. Teams never wait for another team.
template <class ExecSpace>
class team {
 public:
  /// Bytes at the front of the scratch that the collectives of a team need.
  static constexpr std::size_t reserved_bytes = is_cuda<ExecSpace> ? 64 * sizeof(std::uint64_t) : 0;
  /// Threads that a tile of W lanes takes.
  template <int W>
  static constexpr int threads_of = is_cuda<ExecSpace> ? W : 1;

  /// `next` points at counters, all zero, by which the host teams of a league divide their work; null on GPUs.
  KOKKOS_FUNCTION team(int league_rank, int league_size, int rank, int size, std::byte* scratch,
                       std::uint64_t* next)
      : m_league_rank(league_rank),
        m_league_size(league_size),
        m_rank(rank),
        m_size(size),
        m_scratch(scratch),
        m_next(next) {}

  KOKKOS_FUNCTION int league_rank() const { return m_league_rank; }
  KOKKOS_FUNCTION int league_size() const { return m_league_size; }
  KOKKOS_FUNCTION int rank() const { return m_rank; }
  KOKKOS_FUNCTION int size() const { return m_size; }
  KOKKOS_FUNCTION std::byte* scratch() const { return m_scratch + reserved_bytes; }

  /// Tiles of W lanes in a team, and which of them this thread belongs to.
  template <int W>
  KOKKOS_FUNCTION int tiles() const {
    return m_size / threads_of<W>;
  }
  template <int W>
  KOKKOS_FUNCTION int tile_rank() const {
    return m_rank / threads_of<W>;
  }
  template <int W>
  KOKKOS_FUNCTION static tile_for<ExecSpace, W> this_tile() {
    return {};
  }

  /// The scratch of this tile, where `team_bytes` of the whole team come first and each tile has `tile_bytes`.
  template <int W>
  KOKKOS_FUNCTION std::byte* tile_scratch(std::size_t team_bytes, std::size_t tile_bytes) const {
    return scratch() + team_bytes + tile_bytes * static_cast<std::size_t>(tile_rank<W>());
  }

  /// Waits for all threads of the team; what they wrote to scratch is visible from here on.
  KOKKOS_FUNCTION void barrier() const { KOKKOS_IF_ON_DEVICE((cuda::block_barrier();)) }

  /// Whether one of the team's threads says yes. A barrier.
  KOKKOS_FUNCTION bool any(bool yes) const {
    KOKKOS_IF_ON_DEVICE((yes = cuda::any_in_block(yes);))
    return yes;
  }

  /// Adds the number of threads that say yes to a word of scratch, no more than one addition for each 32 of them.
  /// Returns: to those threads, a number of their own from what the word was on. Requires: all threads call it.
  KOKKOS_FUNCTION std::uint32_t append(std::uint32_t* counter, bool yes) const {
    std::uint32_t at = 0;
    KOKKOS_IF_ON_DEVICE((at = cuda::append_in_scratch(counter, yes);))
    KOKKOS_IF_ON_HOST((at = *counter; *counter += yes;))
    return at;
  }

  /// Runs f(i) for every i in [0, n), each on one tile of the league: in turn on GPUs, whoever is free on CPUs.
  /// Requires: every team of the league makes the same calls in the same order.
  template <int W, class F>
  KOKKOS_FUNCTION void for_each_tile(std::uint64_t n, F const& f) {
    KOKKOS_IF_ON_DEVICE((auto const tiles_each = static_cast<std::uint64_t>(tiles<W>());
                         for (auto i = static_cast<std::uint64_t>(m_league_rank) * tiles_each +
                                       static_cast<std::uint64_t>(tile_rank<W>());
                              i < n; i += static_cast<std::uint64_t>(m_league_size) * tiles_each)
                             f(i);))
    KOKKOS_IF_ON_HOST((take(n, f);))
  }

  /// The sum of v over the threads of the team before this one; total: over all. Ends with a barrier.
  KOKKOS_FUNCTION std::uint64_t prefix_sum([[maybe_unused]] std::uint64_t v,
                                           std::uint64_t& total) const {
    std::uint64_t before = 0;
    KOKKOS_IF_ON_DEVICE(
        (before = cuda::block_prefix_sum(v, m_rank, m_size,
                                         reinterpret_cast<std::uint64_t*>(m_scratch), total);))
    KOKKOS_IF_ON_HOST((total = v;))
    return before;
  }

 private:
  // CPUs: whoever is free takes the next part. Parts shrink with n, so that the last ones end together.
  template <class F>
  void take(std::uint64_t n, F const& f) {
    if (m_calls == max_shares) Kokkos::abort("karpos: a step calls team.for_each_tile too often\n");
    std::atomic_ref<std::uint64_t> next(m_next[m_calls++]);
    std::uint64_t const part = 1 + n / (static_cast<std::uint64_t>(m_league_size) * 32);
    for (;;) {
      std::uint64_t const first = next.fetch_add(part, std::memory_order_relaxed);
      if (first >= n) return;
      std::uint64_t const last = first + part < n ? first + part : n;
      for (std::uint64_t i = first; i < last; ++i) f(i);
    }
  }

  int m_league_rank, m_league_size, m_rank, m_size;
  std::byte* m_scratch;
  std::uint64_t* m_next;
  int m_calls = 0;
};

}  // namespace karpos::device
