// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/device/native/announced_kernel.hpp"
#include "karpos/device/peer_distances.hpp"
#include "karpos/device/program.hpp"
#include "karpos/device/space.hpp"

// Devices that belong to several processes of a host and address each other's memory, and programs
// whose kernel spans all these devices.
//
// Every process (a rank) allocates a window of the same size, sends its handle to the others, and
// opens their windows. If an object lies at the same place in the window of each rank, a kernel can
// write the object of every rank:
//
//   rank 0   window | status | … |   <--- rank 1 writes its words here, too
//   rank 1   window | status | … |   <--- and rank 0 here
//
// A spanning grid runs a program (program.hpp) as one kernel on each device; these wait for each
// other. In addition to `run`, it has
//
//   grid.run_on_all(step, then)
//       Runs a step as `run` does, but waits for the teams of all ranks. Whatever any team wrote to
//       any window is visible afterwards.
//   grid.run_on_all(step, &mine, then)
//       Also sends *mine to all ranks once all teams of this rank are done. It lies in the device's
//       memory and has at most 128 bytes, a multiple of 4. then() reads rank r's by
//       grid.of_rank<T>(r).
//   grid.ranks(), grid.rank()
//       The number of ranks, and the number of this one.

namespace karpos::device {

/// Whether kernels of this space can span several devices.
template <class ExecSpace>
inline constexpr bool spans_devices = native_part<ExecSpace>::spans_devices;

/// Whether processes of a host address windows of each other. Processes on CPUs do, but no kernel
/// spans several processes.
template <class ExecSpace>
inline constexpr bool has_peer_windows = spans_devices<ExecSpace>;
template <class ExecSpace>
  requires requires { typename native_part<ExecSpace>::peer_window; }
inline constexpr bool has_peer_windows<ExecSpace> =
    spans_devices<ExecSpace> || detail::has_host_memory<ExecSpace>;

/// The window of a process: movable, and freed by free() alone. Requires: has_peer_windows.
///
///   peer_window(exec, bytes)   allocates `bytes` bytes, zero and aligned to 256
///   share()                    returns a peer_window::handle to send: bytes, trivially copyable
///   open(handles, rank)        opens the other windows; handles[r] is rank r's, `rank` this one's
///   data()                     returns the address of the bytes
///   distances()                returns the peer_distances to all windows, for kernels
///   close()                    closes the other windows
///   free()                     frees this window, after close() on all ranks; on CPUs at any time
///
/// Throws: std::runtime_error if the device cannot allocate, share or open the memory.
template <class ExecSpace>
using peer_window = typename native_part<ExecSpace>::peer_window;

/// Sixteen bytes that identify a device; zeros if the space has no names for its devices.
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

/// Returns whether all teams of a program fit on the device at once.
template <int Threads, int PerProcessor, class Program, class ExecSpace>
  requires(spans_devices<ExecSpace>)
bool can_span(ExecSpace const& exec, grid_memory<ExecSpace> const& memory) {
  return native_part<ExecSpace>::template can_span<Threads, PerProcessor, Program>(
      exec, memory.shape().teams, memory.shape().scratch_bytes);
}

/// Runs a program in a kernel that spans the devices whose windows are open. All ranks must call
/// it: otherwise those that do wait for ever. The kernel is announced to Kokkos Tools. Asynchronous
/// to the host.
/// Throws: std::runtime_error if the kernel does not start.
template <int Threads, int PerProcessor, class ExecSpace, class Program>
  requires(spans_devices<ExecSpace>)
void run_spanning(ExecSpace const& exec, grid_memory<ExecSpace> const& memory,
                  peer_window<ExecSpace> const& window, Program const& program) {
  announced_kernel const announced(Program::label, exec);
  native_part<ExecSpace>::template run_spanning<Threads, PerProcessor>(
      exec, memory.shape().teams, memory.shape().scratch_bytes, memory.words(), window, program);
}

}  // namespace karpos::device
