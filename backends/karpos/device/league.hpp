// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

#include "karpos/device/space.hpp"
#include "karpos/device/team.hpp"

namespace karpos::device {

/// Runs step(team) for each of `league` teams, in any order. A league is all teams of a step (CUDA:
/// the blocks of a grid). A step declares its needs as constants. `threads` of a team and
/// `teams_at_once` on a multiprocessor apply to GPUs. `scratch_bytes` are shared memory, or on the
/// stack of a CPU thread. Asynchronous to the host.
template <class ExecSpace, class Step>
void for_each_in_league(std::string const& label, ExecSpace const& exec, int league,
                        Step const& step) {
  if (league > 0) native_part<ExecSpace>::run_league(label, exec, league, step);
}

}  // namespace karpos::device
