// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/device/native/host.hpp"
#include "karpos/device/native/host_window.hpp"
#include "karpos/device/native/step_function.hpp"
#include "karpos/device/tile.hpp"

// Teams, leagues and traits of CPU spaces. A team is one thread, so that its collectives are
// trivial.

namespace karpos::device {

template <class ExecSpace>
class team;

namespace host {

/// Number of shared counters of a step. Each of the first calls of team.for_each_tile divides its
/// work by one of them; later calls divide it evenly.
inline constexpr int work_counters = 8;

/// A team of one CPU thread.
class thread_team {
 public:
  static constexpr std::size_t reserved_bytes = 0;

  /// `next` points to work_counters counters, all zero, that all teams of the league share. If it
  /// is null, every call is divided evenly.
  KOKKOS_FUNCTION thread_team(int league_rank, int league_size, std::byte* scratch,
                              std::uint64_t* next)
      : m_league_rank(league_rank),
        m_league_size(league_size),
        m_scratch(scratch),
        m_next(next) {}

  KOKKOS_FUNCTION int league_rank() const { return m_league_rank; }
  KOKKOS_FUNCTION int league_size() const { return m_league_size; }
  KOKKOS_FUNCTION int rank() const { return 0; }
  KOKKOS_FUNCTION int size() const { return 1; }
  KOKKOS_FUNCTION std::byte* scratch() const { return m_scratch; }

  template <int W>
  KOKKOS_FUNCTION host_tile<W> this_tile() const {
    return {};
  }
  KOKKOS_FUNCTION void barrier() const {}
  KOKKOS_FUNCTION bool any(bool yes) const { return yes; }
  KOKKOS_FUNCTION std::uint32_t append(std::uint32_t* counter, bool yes) const {
    std::uint32_t const at = *counter;
    *counter += yes;
    return at;
  }
  KOKKOS_FUNCTION std::uint64_t prefix_sum(std::uint64_t v, std::uint64_t& total) const {
    total = v;
    return 0;
  }

  /// Calls f(i) for the indices of [0, n) that this team claims. A shared counter hands out parts
  /// of equal length, about 32 for each team, so that all teams end at about the same time.
  template <class F>
  void divide(std::uint64_t n, F const& f) {
    auto const size = static_cast<std::uint64_t>(m_league_size);
    auto first = static_cast<std::uint64_t>(m_league_rank);
    bool const evenly = m_next == nullptr || m_calls == work_counters;
    std::uint64_t* const next = evenly ? nullptr : m_next + m_calls++;
    std::uint64_t const part = evenly ? n : 1 + n / (size * 32), step = evenly ? size : 1;
    do {  // one loop for both cases: compilers copy f into each loop
      if (!evenly) first = std::atomic_ref(*next).fetch_add(part, std::memory_order_relaxed);
      std::uint64_t const last = Kokkos::min(first + part, n);
      for (std::uint64_t i = first; i < last; i += step) KARPOS_INLINE_CALLS f(i);
    } while (!evenly && first < n);
  }

 private:
  int m_league_rank, m_league_size;
  std::byte* m_scratch;
  std::uint64_t* m_next;
  int m_calls = 0;
};

/// Runs a step on each team of a league, with its scratch on the thread's stack.
template <class ExecSpace, class Step>
struct league_kernel {
  Step step;
  int league;

  KARPOS_FLATTEN [[gnu::noinline]] KOKKOS_FUNCTION void operator()(int i) const {
    alignas(64) std::byte scratch[Step::scratch_bytes];
    team<ExecSpace> t(thread_team(i, league, scratch, nullptr));
    step(t);
  }
};

template <class ExecSpace>
struct part {
  static constexpr bool is_device = false;
  static constexpr int warp_width = 1;
  static constexpr bool has_wide_cas = has_compare_and_swap_16, reads_wide = false;
  static constexpr bool has_grid_barrier = false, counts_votes = false;
  static constexpr bool bounds_registers = false, spans_devices = false;
  template <int W>
  using tile = host_tile<W>;
  template <int W, class Member>
  KOKKOS_FUNCTION static tile<W> make_tile(Member const& /*member*/) {
    return {};
  }
  using team_handle = thread_team;
  using peer_window = host::peer_window;

  static constexpr int max_scratch_bytes = 256 * 1024;

  static int processors(ExecSpace const& exec) { return exec.concurrency(); }
  static std::size_t cache_bytes(ExecSpace const&) { return 0; }

  template <class Step>
  static void run_league(std::string const& label, ExecSpace const& exec, int league,
                         Step const& step) {
    using policy =
        Kokkos::RangePolicy<ExecSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<int>>;
    Kokkos::parallel_for(label, policy(exec, 0, league, Kokkos::ChunkSize(1)),
                         league_kernel<ExecSpace, Step>{step, league});
  }
};

}  // namespace host
}  // namespace karpos::device
