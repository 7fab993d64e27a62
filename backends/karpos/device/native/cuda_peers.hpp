// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "karpos/device/native/cuda.hpp"
#include "karpos/device/peer_distances.hpp"

// Windows on memory that the processes of a host share by CUDA's IPC functions, and the barrier of
// kernels that span their devices. NCCL's device API supports more kinds of links. It requires
// headers and a library of one release, and an installed header library cannot know which. This
// file needs nothing but the driver.

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

namespace karpos::device::cuda {

inline void require_cuda(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // clears the error
  throw std::runtime_error(std::string("karpos: ") + what + " failed (" + cudaGetErrorString(e) +
                           "): exchange between the steps, or report this");
}

/// Messages that ranks send each other at a barrier, of 32-bit words. Each word travels in the low
/// half of a 64-bit word, below the number of the round. One store writes both, so that no fence is
/// needed between a word and a flag.
struct spanning_control {
  static constexpr int most_words = 32;
  std::uint64_t message[2][most_peers][most_words];  // by parity of the round, by sender
  std::uint64_t rounds;                              // so far; written by this rank alone
};

/// Memory of this process' device that the devices of other ranks address. It may be freed only
/// when they no longer do: close() on all ranks, then free().
class peer_window {
 public:
  using handle = cudaIpcMemHandle_t;
  static constexpr std::size_t control_bytes = (sizeof(spanning_control) + 255) / 256 * 256;

  peer_window() = default;
  /// Allocates `bytes` bytes for the user, aligned to 256 and zero.
  peer_window(Kokkos::Cuda const& exec, std::size_t bytes) : m_device(exec.cuda_device()) {
    require_cuda(cudaSetDevice(m_device), "cudaSetDevice");
    // CUDA shares whole pages of memory: nothing else lies on the pages of this window.
    constexpr std::size_t page = std::size_t(2) << 20;
    std::size_t const all = (control_bytes + bytes + page - 1) / page * page;
    void* made = nullptr;
    require_cuda(cudaMalloc(&made, all), "cudaMalloc of a window");
    m_base = static_cast<std::byte*>(made);
    m_distances.count = 1;
    auto const cleared = cudaMemset(m_base, 0, all);
    auto const done = cleared == cudaSuccess ? cudaDeviceSynchronize() : cleared;
    if (done != cudaSuccess) free();  // because no destructor does
    require_cuda(done, "cudaMemset of a window");
  }
  peer_window(peer_window&& other) noexcept { swap(other); }
  peer_window& operator=(peer_window&& other) noexcept {
    swap(other);
    return *this;
  }

  handle share() const {
    handle h;
    require_cuda(cudaIpcGetMemHandle(&h, m_base), "cudaIpcGetMemHandle");
    return h;
  }
  /// Opens the windows of the other ranks. Throws: std::runtime_error if one cannot be addressed.
  void open(std::vector<handle> const& all, int rank) {
    m_distances.rank = rank;
    m_distances.count = static_cast<int>(all.size());
    for (int r = 0; r < m_distances.count; ++r) {
      void* other = m_base;
      if (r != rank)
        require_cuda(cudaIpcOpenMemHandle(&other, all[static_cast<std::size_t>(r)],
                                          cudaIpcMemLazyEnablePeerAccess),
                     "cudaIpcOpenMemHandle");
      m_distances.bytes[r] = static_cast<std::byte*>(other) - m_base;
    }
  }
  /// Closes the windows of the other ranks.
  void close() noexcept {
    for (int r = 0; r < m_distances.count; ++r)
      if (m_distances.bytes[r] != 0) cudaIpcCloseMemHandle(m_base + m_distances.bytes[r]);
    m_distances = {};
  }
  void free() noexcept {
    if (m_base == nullptr) return;
    cudaSetDevice(m_device);
    cudaFree(std::exchange(m_base, nullptr));
  }

  std::byte* data() const { return m_base + control_bytes; }
  peer_distances distances() const { return m_distances; }
  spanning_control* control() const { return reinterpret_cast<spanning_control*>(m_base); }

 private:
  void swap(peer_window& other) noexcept {
    std::swap(m_base, other.m_base);
    std::swap(m_device, other.m_device);
    std::swap(m_distances, other.m_distances);
  }
  std::byte* m_base = nullptr;
  int m_device = 0;
  peer_distances m_distances{};
};

__device__ __forceinline__ std::uint64_t load_acquire_system(std::uint64_t const* p) {
  std::uint64_t v;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(global(p)) : "memory");
  return v;
}

/// The messages of a round that a block has received, and the number of the round: in shared
/// memory.
struct received_messages {
  std::uint32_t word[most_peers][spanning_control::most_words];
  std::uint32_t round;
};

/// Barrier of all blocks of all ranks; then() runs on thread 0. The last block of a rank to arrive
/// sends the rank's message, which is complete only then. Each block waits for the messages of all
/// ranks, including its own.
///
/// Whatever a block has written to any window is released to its device by the block's arrival, and
/// to all devices by the last block's fence: releases are cumulative.
///
/// `mine` points to `words` words; it may be null if there are none.
template <class Then>
__device__ __forceinline__ void spanning_barrier(std::uint64_t* arrived, std::uint64_t* arrivals,
                                                 unsigned blocks, spanning_control* control,
                                                 peer_distances const& d, std::uint32_t const* mine,
                                                 int words, received_messages& messages,
                                                 Then const& then) {
  __syncthreads();
  if (threadIdx.x < 32) {
    int const lane = static_cast<int>(threadIdx.x);
    bool last = false;
    if (lane == 0) {
      std::uint64_t before;
      asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], 1;"
                   : "=l"(before)
                   : "l"(global(arrived))
                   : "memory");
      std::uint64_t const all = *arrivals + blocks;
      *arrivals = all;
      last = before + 1 == all;
      ++messages.round;
    }
    last = __shfl_sync(~0u, last, 0);
    __syncwarp();
    std::uint32_t const round = messages.round;
    bool const participates = lane == 0 || lane < words;
    std::uint64_t const tag = std::uint64_t(round) << 32;
    if (last) {
      std::uint32_t const word = lane < words ? load_relaxed(mine + lane) : 0;
      if (lane == 0) store_relaxed(&control->rounds, std::uint64_t(round));
      asm volatile("fence.acq_rel.sys;" ::: "memory");
      for (int r = 0; participates && r < d.count; ++r)
        store_to_peer(d.of(r, &control->message[round % 2][d.rank][lane]), tag | word);
    }
    for (int r = 0; participates && r < d.count; ++r) {
      std::uint64_t received;
      do received = load_acquire_system(&control->message[round % 2][r][lane]);
      while ((received ^ tag) >> 32 != 0);
      messages.word[r][lane] = static_cast<std::uint32_t>(received);
    }
    __syncwarp();
    if (lane == 0) then();
  }
  __syncthreads();
}

}  // namespace karpos::device::cuda

#endif  // KOKKOS_ENABLE_CUDA
