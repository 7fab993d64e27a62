// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <string>

#include "karpos/device/atomics.hpp"
#include "karpos/device/native/cuda_program.hpp"
#include "karpos/device/team.hpp"

namespace karpos::device {

namespace detail {

/// Runs a step on one thread, with its scratch on the stack.
template <class ExecSpace, class Step>
struct league_kernel {
  Step step;
  int league;

  void operator()(int i) const {
    alignas(64) std::byte scratch[Step::scratch_bytes];
    team<ExecSpace> t(i, league, 0, 1, scratch, nullptr);
    step(t);
  }
};

}  // namespace detail

/// Runs step(team) for each of `league` teams, in any order. A step says as constants what it needs: `threads` of a team
/// and `teams_at_once` on a multiprocessor, for GPUs; `scratch_bytes`, of shared memory or of a CPU thread's stack.
/// Asynchronous to the host.
template <class ExecSpace, class Step>
void for_each_in_league(std::string const& label, ExecSpace const& exec, int league,
                        Step const& step) {
  if (league == 0) return;
  if constexpr (is_cuda<ExecSpace>) {
#if defined(KOKKOS_ENABLE_CUDA)
    run_league(label, exec, league, step);
#endif
  } else {
    using policy =
        Kokkos::RangePolicy<ExecSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<int>>;
    Kokkos::parallel_for(label, policy(exec, 0, league, Kokkos::ChunkSize(1)),
                         detail::league_kernel<ExecSpace, Step>{step, league});
  }
}

}  // namespace karpos::device
