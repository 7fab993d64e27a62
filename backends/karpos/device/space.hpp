// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <type_traits>

#include "karpos/device/native/native.hpp"

// What an execution space is, as traits: the questions that algorithms and their tuning ask of a machine. Which vendor
// made it is not one of them.

namespace karpos::device {

/// Whether kernels run on a device: many threads, which hide the latency of memory, and memory of its own. The other
/// spaces are CPUs, where each thread keeps several accesses in flight.
template <class ExecSpace>
inline constexpr bool is_device = native_part<ExecSpace>::is_device;

/// Threads that the widest tile spans; 1 where the lanes of a tile are a loop in one thread: CPUs and the generic part.
template <class ExecSpace>
inline constexpr int warp_width = native_part<ExecSpace>::warp_width;

/// Bytes that a random access to memory moves: a sector of a GPU's memory, a line of a CPU's cache.
template <class ExecSpace>
inline constexpr int sector_bytes = is_device<ExecSpace> ? 32 : 64;

/// Whether compare_and_swap of 16 bytes is one instruction. Without it 16-byte slots are claimed and then published
/// (docs/design/memory_model.md).
template <class ExecSpace>
inline constexpr bool has_wide_cas = native_part<ExecSpace>::has_wide_cas;

/// Whether 16 bytes are read at once. Without it, which is so on every CPU, the halves of a 16-byte word may have been
/// written at different times.
template <class ExecSpace>
inline constexpr bool reads_wide = native_part<ExecSpace>::reads_wide;

/// has_wide_cas and reads_wide, by the size of a word.
template <int Bytes, class ExecSpace>
inline constexpr bool is_lock_free =
    Bytes == 4 || Bytes == 8 || (Bytes == 16 && has_wide_cas<ExecSpace>);
template <int Bytes, class ExecSpace>
inline constexpr bool reads_whole = Bytes <= 8 || reads_wide<ExecSpace>;

/// Whether all teams of a kernel can wait for each other, so that a program runs inside of one kernel.
template <class ExecSpace>
inline constexpr bool has_grid_barrier = native_part<ExecSpace>::has_grid_barrier;

/// The tile of W lanes that an execution space runs best; chosen by execution space, never by an
/// architecture macro, so that the host and the device pass of a compiler agree about types.
template <class ExecSpace, int W>
using tile_for = typename native_part<ExecSpace>::template tile<W>;

/// Threads that a tile of W lanes takes.
template <class ExecSpace, int W>
inline constexpr int tile_threads = warp_width<ExecSpace> == 1 ? 1 : W;

/// Asks for huge pages below a large array, where the memory is the host's and has them. A hint.
template <class MemorySpace>
void advise_huge_pages([[maybe_unused]] void* array, [[maybe_unused]] std::size_t bytes) {
  if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>)
    host::advise_huge_pages(array, bytes);
}

/// Bytes of scratch that a team may ask for, of shared memory or of a CPU's stack.
template <class ExecSpace>
inline constexpr int max_scratch_bytes = native_part<ExecSpace>::max_scratch_bytes;

/// Multiprocessors of a GPU, threads of a CPU.
template <class ExecSpace>
int processors(ExecSpace const& exec) {
  return native_part<ExecSpace>::processors(exec);
}

}  // namespace karpos::device
