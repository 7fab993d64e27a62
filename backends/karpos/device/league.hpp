// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

#include "karpos/device/space.hpp"
#include "karpos/device/team.hpp"

namespace karpos::device {

/// Runs step(team) for each of `league` teams, in any order. A step says as constants what it needs: `threads` of a
/// team and `teams_at_once` on a multiprocessor, for GPUs; `scratch_bytes`, of shared memory or of a CPU's stack.
/// Asynchronous to the host.
template <class ExecSpace, class Step>
void for_each_in_league(std::string const& label, ExecSpace const& exec, int league,
                        Step const& step) {
  if (league > 0) native_part<ExecSpace>::run_league(label, exec, league, step);
}

}  // namespace karpos::device
