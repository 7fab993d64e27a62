// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/device/peer_distances.hpp"
#include "karpos/device/program.hpp"
#include "karpos/device/space.hpp"

// Devices of several processes of a host that address each other's memory, and programs whose kernel spans them all.
//
// Every process (a rank) makes a window of the same size, tells the others its handle, and opens theirs. An object that lies
// in the window of each rank at the same place is one that a kernel can write for all:
//
//   rank 0   window | status | … |   <--- rank 1 writes its words here, too
//   rank 1   window | status | … |   <--- and rank 0 here
//
// A spanning grid runs a program (program.hpp) in one kernel on each device. Beside run, it has
//
//   grid.run_on_all(step, then)         as run, but waits for the teams of all ranks: what any of them wrote to any window is
//                                       visible afterwards
//   grid.run_on_all(step, &mine, then)  and brings *mine of every rank, a small object in memory, as it is when the rank's
//                                       teams are done: of_rank<T>(r), for then()
//   grid.ranks(), grid.rank()           how many there are, and which this one is

namespace karpos::device {

/// Whether kernels of this space can span devices.
template <class ExecSpace>
inline constexpr bool spans_devices = native_part<ExecSpace>::spans_devices;

/// A window of this process; only where spans_devices.
template <class ExecSpace>
using peer_window = typename native_part<ExecSpace>::peer_window;

/// Sixteen bytes that no other device has; zeros where a space has no names for its devices.
struct device_identity {
  unsigned char bytes[16] = {};
};
template <class ExecSpace>
device_identity identity_of([[maybe_unused]] ExecSpace const& exec) {
  device_identity id;
  if constexpr (requires { native_part<ExecSpace>::identify(exec, id.bytes); })
    native_part<ExecSpace>::identify(exec, id.bytes);
  return id;
}

/// Whether a program's teams all fit on the device at once.
template <int Threads, int PerProcessor, class Program, class ExecSpace>
  requires(spans_devices<ExecSpace>)
bool can_span(ExecSpace const& exec, grid_memory<ExecSpace> const& memory) {
  return native_part<ExecSpace>::template can_span<Threads, PerProcessor, Program>(
      exec, memory.shape().teams, memory.shape().scratch_bytes);
}

/// Runs a program in a kernel that spans the devices whose windows have been opened: all ranks start it, or those that do wait
/// for ever. Asynchronous to the host. Throws: std::runtime_error where the kernel does not start.
template <int Threads, int PerProcessor, class ExecSpace, class Program>
  requires(spans_devices<ExecSpace>)
void run_spanning(ExecSpace const& exec, grid_memory<ExecSpace> const& memory,
                  peer_window<ExecSpace> const& window, Program const& program) {
  native_part<ExecSpace>::template run_spanning<Threads, PerProcessor>(
      exec, memory.shape().teams, memory.shape().scratch_bytes, memory.words(), window, program);
}

}  // namespace karpos::device
