// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <stdexcept>
#include <type_traits>

#include "karpos/device/native/native.hpp"

// Traits of execution spaces: what algorithms and their tuning ask of a machine. They never ask for
// its vendor.

namespace karpos::device {

/// Whether kernels run on a device, which has memory of its own, and many threads that hide memory
/// latency. The other spaces are CPUs, where each thread keeps several accesses in flight.
template <class ExecSpace>
inline constexpr bool is_device = native_part<ExecSpace>::is_device;

/// Threads that the widest tile (cooperative group) spans. It is 1 if the lanes of a tile are a
/// loop in one thread: on CPUs, and with Kokkos alone (KARPOS_NATIVE=generic, and GPUs without a
/// native part).
template <class ExecSpace>
inline constexpr int warp_width = native_part<ExecSpace>::warp_width;

/// Bytes that a random access to memory moves: a sector of a GPU's memory, a line of a CPU's cache.
template <class ExecSpace>
inline constexpr int sector_bytes = is_device<ExecSpace> ? 32 : 64;

/// Whether a compare_and_swap of 16 bytes is one instruction. If not, a 16-byte slot is first
/// reserved by a swap of 8 bytes, then filled (docs/design/memory_model.md).
template <class ExecSpace>
inline constexpr bool has_wide_cas = native_part<ExecSpace>::has_wide_cas;

/// Whether 16 bytes are read atomically. If not, as on every CPU, the halves of a 16-byte word may
/// have been written at different times.
template <class ExecSpace>
inline constexpr bool reads_wide = native_part<ExecSpace>::reads_wide;

/// Throws std::runtime_error if this processor does not read bits128 by one access. No compiler
/// knows that.
template <class ExecSpace>
void require_bits128() {
  if constexpr (detail::has_host_memory<ExecSpace>)
    if (!host::reads_bits128())
      throw std::runtime_error(
          "karpos: keys of more than eight bytes need a processor that reads 16 bytes at once "
          "(x86-64 with AVX): use karpos::unordered_map");
}

/// Whether compare_and_swap of a word of `Bytes` bytes is one instruction.
template <int Bytes, class ExecSpace>
inline constexpr bool is_lock_free =
    Bytes == 4 || Bytes == 8 || (Bytes == 16 && has_wide_cas<ExecSpace>);
/// Whether a word of `Bytes` bytes is read atomically.
template <int Bytes, class ExecSpace>
inline constexpr bool reads_whole = Bytes <= 8 || reads_wide<ExecSpace>;

/// Whether all teams of a kernel can wait for each other, so that a program runs inside one kernel.
template <class ExecSpace>
inline constexpr bool has_grid_barrier = native_part<ExecSpace>::has_grid_barrier;

/// The tile of W lanes that an execution space runs best. The space chooses it, never an
/// architecture macro, so that the host and the device pass of a compiler agree on types.
template <class ExecSpace, int W>
using tile_for = typename native_part<ExecSpace>::template tile<W>;

/// Threads that a tile of W lanes takes.
template <class ExecSpace, int W>
inline constexpr int tile_threads = warp_width<ExecSpace> == 1 ? 1 : W;

/// Asks for huge pages for a large array, if the memory is the host's. A hint: failure changes
/// nothing.
template <class MemorySpace>
void advise_huge_pages([[maybe_unused]] void* array, [[maybe_unused]] std::size_t bytes) {
  if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>)
    host::advise_huge_pages(array, bytes);
}

/// Bytes of scratch that a team may ask for: of shared memory, or of a CPU thread's stack.
template <class ExecSpace>
inline constexpr int max_scratch_bytes = native_part<ExecSpace>::max_scratch_bytes;

/// Returns the number of multiprocessors of a GPU, or of threads of a CPU space. With Kokkos alone,
/// the number for GPUs is an estimate: concurrency() / 2,048.
template <class ExecSpace>
int processors(ExecSpace const& exec) {
  return native_part<ExecSpace>::processors(exec);
}

/// Returns the bytes of the cache that all multiprocessors of a GPU share; 0 if unknown.
template <class ExecSpace>
std::size_t cache_bytes(ExecSpace const& exec) {
  return native_part<ExecSpace>::cache_bytes(exec);
}

}  // namespace karpos::device
