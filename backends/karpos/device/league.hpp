// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

#include "karpos/device/space.hpp"
#include "karpos/device/team.hpp"

namespace karpos::device {

/// Runs step(team) for each of `league` teams, in any order. A league is all teams of a step (CUDA:
/// the blocks of a grid). Asynchronous to the host on GPUs; on CPUs returns when the league has
/// ended. A step declares constants:
///
///   threads         of a team; applies to GPUs
///   teams_at_once   on a multiprocessor; applies to GPUs
///   scratch_bytes   of a team: shared memory, or stack of a CPU thread. With Kokkos alone
///                   (KARPOS_NATIVE=generic, and GPUs without a native part), global memory if
///                   shared memory is too small
///
/// Throws: std::runtime_error if the kernel does not start, in the native parts of GPUs.
template <class ExecSpace, class Step>
void for_each_in_league(std::string const& label, ExecSpace const& exec, int league,
                        Step const& step) {
  if (league > 0) native_part<ExecSpace>::run_league(label, exec, league, step);
}

}  // namespace karpos::device
