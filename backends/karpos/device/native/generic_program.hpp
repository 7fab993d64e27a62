// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/device/native/generic.hpp"
#include "karpos/device/tile.hpp"

// Teams, leagues and traits of the generic native part, made of Kokkos' TeamPolicy. Tiles are loops
// in one thread, and programs are launched step by step. A native part with wider tiles can make
// them from the member of the team, in spaces that give access to lanes by a handle.

namespace karpos::device {

template <class ExecSpace>
class team;

namespace generic {

/// A team of a Kokkos::TeamPolicy (CUDA: a block).
template <class Member>
class policy_team {
 public:
  static constexpr std::size_t reserved_bytes = 0;

  KOKKOS_FUNCTION policy_team(Member const& member, std::byte* scratch)
      : m_member(member),
        m_scratch(scratch) {}

  KOKKOS_FUNCTION int league_rank() const { return m_member.league_rank(); }
  KOKKOS_FUNCTION int league_size() const { return m_member.league_size(); }
  KOKKOS_FUNCTION int rank() const { return m_member.team_rank(); }
  KOKKOS_FUNCTION int size() const { return m_member.team_size(); }
  KOKKOS_FUNCTION std::byte* scratch() const { return m_scratch; }

  template <int W>
  KOKKOS_FUNCTION reference_tile<W> this_tile() const {
    return {};
  }
  KOKKOS_FUNCTION void barrier() const { m_member.team_barrier(); }
  KOKKOS_FUNCTION bool any(bool yes) const {
    int result = yes;
    m_member.team_reduce(Kokkos::Max<int>(result));
    return result != 0;
  }
  KOKKOS_FUNCTION std::uint32_t append(std::uint32_t* counter, bool yes) const {
    return yes ? Kokkos::atomic_fetch_add(counter, 1u) : 0;
  }
  KOKKOS_FUNCTION std::uint64_t prefix_sum(std::uint64_t v, std::uint64_t& total) const {
    std::uint64_t const before = m_member.team_scan(v);
    total = before + v;
    m_member.team_broadcast(total, size() - 1);
    m_member.team_barrier();
    return before;
  }

 private:
  Member const& m_member;
  std::byte* m_scratch;
};

template <class ExecSpace, class Step>
struct league_kernel {
  Step step;
  int level;  // scratch level

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& m) const {
    auto* const scratch = static_cast<std::byte*>(m.team_scratch(level).get_shmem_aligned(
        static_cast<std::ptrdiff_t>(Step::scratch_bytes), 64));
    team<ExecSpace> t(policy_team<Member>(m, scratch));
    step(t);
  }
};

template <class ExecSpace>
struct part {
  static constexpr bool is_device = true;
  static constexpr int warp_width = 1;
  static constexpr bool has_wide_cas = false, reads_wide = false;
  static constexpr bool has_grid_barrier = false, counts_votes = false;
  static constexpr bool bounds_registers = false, spans_devices = false;
  template <int W>
  using tile = reference_tile<W>;
  template <int W, class Member>
  KOKKOS_FUNCTION static tile<W> make_tile(Member const& /*member*/) {
    return {};
  }
  using team_handle = policy_team<typename Kokkos::TeamPolicy<ExecSpace>::member_type>;

  /// Kokkos gives a team more scratch, but in global memory.
  static constexpr int max_scratch_bytes = 48 * 1024;

  /// Returns the number of multiprocessors. Kokkos knows the number of threads that run at once,
  /// which is 2,048 for a multiprocessor of most GPUs.
  static int processors(ExecSpace const& exec) { return Kokkos::max(1, exec.concurrency() / 2048); }
  /// Returns 0: Kokkos does not know the bytes of the last cache.
  static std::size_t cache_bytes(ExecSpace const&) { return 0; }

  /// Runs a league with scratch of level 0, or of level 1, global memory, if level 0 is too small
  /// for a team.
  template <class Step>
  static void run_league(std::string const& label, ExecSpace const& exec, int league,
                         Step const& step) {
    using policy = Kokkos::TeamPolicy<ExecSpace, Kokkos::LaunchBounds<Step::threads, 1>>;
    constexpr int alignment = 64, bytes = static_cast<int>(Step::scratch_bytes) + alignment;
    constexpr int own = (Step::threads + 2) * 8;  // bytes of level 0 that Kokkos' collectives use
    int const level = bytes + own <= policy::scratch_size_max(0) ? 0 : 1;
    policy const teams(exec, league, Step::threads);
    Kokkos::parallel_for(label, policy(teams).set_scratch_size(level, Kokkos::PerTeam(bytes)),
                         league_kernel<ExecSpace, Step>{step, level});
  }
};

}  // namespace generic
}  // namespace karpos::device
