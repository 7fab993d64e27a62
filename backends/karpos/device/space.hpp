// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

// What an execution space is, as traits: the questions that algorithms and their tuning ask of a machine. Which vendor
// made it is not one of them.

namespace karpos::device {

/// Whether kernels run on a device with memory of its own and many threads: GPUs. Such a space hides the latency of
/// memory by threads; the others are CPUs, where each thread keeps several accesses in flight.
template <class ExecSpace>
inline constexpr bool is_device =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecSpace::memory_space>::accessible;

/// Bytes that a random access to memory moves: a sector of a GPU's memory, a line of a CPU's cache.
template <class ExecSpace>
inline constexpr int sector_bytes = is_device<ExecSpace> ? 32 : 64;

}  // namespace karpos::device
