// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/device/native/announced_kernel.hpp"
#include "karpos/device/native/cuda.hpp"
#include "karpos/device/native/cuda_peers.hpp"
#include "karpos/device/state_handle.hpp"
#include "karpos/device/tile.hpp"

// Teams and kernels of the tuned native part for CUDA. Kokkos cannot launch these kernels. They run
// programs, whose blocks are all resident and wait for each other at a grid barrier, and leagues
// whose teams need more scratch than Kokkos gives.

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

namespace karpos::device {

template <class ExecSpace>
class team;

namespace cuda {

template <int W>
using tile_of_width = std::conditional_t<(W > 1), warp_tile<W>, reference_tile<1>>;

/// A team: a block of threads.
class block {
 public:
  /// Shared memory for prefix_sum.
  static constexpr std::size_t reserved_bytes = 64 * sizeof(std::uint64_t);

  KOKKOS_FUNCTION block(int league_rank, int league_size, int rank, int size, std::byte* scratch)
      : m_league_rank(league_rank),
        m_league_size(league_size),
        m_rank(rank),
        m_size(size),
        m_scratch(scratch) {}
  /// Makes a team of the member of a Kokkos::TeamPolicy.
  template <class Member>
  KOKKOS_FUNCTION block(Member const& m, std::byte* scratch)
      : block(m.league_rank(), m.league_size(), m.team_rank(), m.team_size(), scratch) {}

  KOKKOS_FUNCTION int league_rank() const { return m_league_rank; }
  KOKKOS_FUNCTION int league_size() const { return m_league_size; }
  KOKKOS_FUNCTION int rank() const { return m_rank; }
  KOKKOS_FUNCTION int size() const { return m_size; }
  KOKKOS_FUNCTION std::byte* scratch() const { return m_scratch + reserved_bytes; }

  template <int W>
  KOKKOS_FUNCTION tile_of_width<W> this_tile() const {
    return {};
  }
  KOKKOS_FUNCTION void barrier() const { KOKKOS_IF_ON_DEVICE((block_barrier();)) }
  KOKKOS_FUNCTION bool any(bool yes) const {
    KOKKOS_IF_ON_DEVICE((yes = any_in_block(yes);))
    return yes;
  }
  KOKKOS_FUNCTION std::uint32_t append([[maybe_unused]] std::uint32_t* counter,
                                       [[maybe_unused]] bool yes) const {
    std::uint32_t at = 0;
    KOKKOS_IF_ON_DEVICE((at = append_in_block(counter, yes);))
    return at;
  }
  KOKKOS_FUNCTION std::uint64_t prefix_sum([[maybe_unused]] std::uint64_t v,
                                           [[maybe_unused]] std::uint64_t& total) const {
    std::uint64_t before = 0;
    KOKKOS_IF_ON_DEVICE(
        (before = block_prefix_sum(v, m_rank, m_size, reinterpret_cast<std::uint64_t*>(m_scratch),
                                   total);))
    return before;
  }

 private:
  int m_league_rank, m_league_size, m_rank, m_size;
  std::byte* m_scratch;
};

/// Runs a program inside one kernel. The word of the barrier grows for ever. Each launch leaves a
/// multiple of the number of its blocks behind, so that a word belongs to launches of one size.
template <class ExecSpace>
class cooperative_grid {
 public:
  using execution_space = ExecSpace;
  static constexpr bool spans = false;

  /// `arrivals` is a word of shared memory. Registers that live through all steps would be spilled
  /// to memory which every grid barrier drops from the L1 cache, so that nothing is kept in a
  /// register.
  __device__ cooperative_grid(std::uint64_t* barrier, std::byte* scratch, std::uint64_t* arrivals)
      : m_barrier(barrier),
        m_scratch(scratch),
        m_arrivals(arrivals) {
    if (threadIdx.x == 0) *arrivals = arrivals_before(barrier, gridDim.x);
  }

  template <class State>
  using handle_of = state_pointer<State>;
  template <class State>
  __device__ handle_of<State> handle(State const& s) const {
    return {&s};
  }

  template <class Step, class Then>
  __device__ __forceinline__ void run(Step const& step, Then const& then) {
    run_on_team(step);
    grid_barrier(m_barrier, m_arrivals, gridDim.x, then);
  }
  /// Reads *p. Requires, as `write` does: called by thread 0 of a block, in `then`.
  template <class T>
  __device__ __forceinline__ T read(T const* p) {
    static_assert(sizeof(T) % 8 == 0 && sizeof(T) <= 128);
    union value {
      __device__ value() : word{} {}
      std::uint64_t word[sizeof(T) / 8];
      T whole;
    } v;
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 8; ++i)
      v.word[i] = load_relaxed(reinterpret_cast<std::uint64_t const*>(p) + i);
    return v.whole;
  }
  template <class T>
  __device__ __forceinline__ void write(T* p, T const& v) {
    if (blockIdx.x == 0) *p = v;
  }

 protected:
  template <class Step>
  __device__ __forceinline__ void run_on_team(Step const& step) const {
    team<ExecSpace> t(block(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                            static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                            m_scratch));
    step(t);
  }

  std::uint64_t* m_barrier;
  std::byte* m_scratch;
  std::uint64_t* m_arrivals;  // of all blocks, up to the last barrier
};

/// Runs a program inside kernels that span the devices of all ranks (peers.hpp).
template <class ExecSpace>
class spanning_grid : public cooperative_grid<ExecSpace> {
  using base = cooperative_grid<ExecSpace>;

 public:
  static constexpr bool spans = true;

  __device__ spanning_grid(std::uint64_t* barrier, std::byte* scratch, std::uint64_t* arrivals,
                           spanning_control* control, peer_distances const& distances,
                           received_messages* messages)
      : base(barrier, scratch, arrivals),
        m_control(control),
        m_distances(&distances),
        m_messages(messages) {
    if (threadIdx.x == 0)
      messages->round = static_cast<std::uint32_t>(load_relaxed(&control->rounds));
  }

  __device__ int ranks() const { return m_distances->count; }
  __device__ int rank() const { return m_distances->rank; }
  template <class Step, class Then>
  __device__ __forceinline__ void run_on_all(Step const& step, Then const& then) {
    run_to_barrier(step, nullptr, 0, then);
  }
  template <class Step, class T, class Then>
  __device__ __forceinline__ void run_on_all(Step const& step, T const* mine, Then const& then) {
    constexpr int words = sizeof(T) / sizeof(std::uint32_t);
    static_assert(sizeof(T) % sizeof(std::uint32_t) == 0 && words <= spanning_control::most_words);
    run_to_barrier(step, reinterpret_cast<std::uint32_t const*>(mine), words, then);
  }
  /// Returns the object that rank r sent. Requires: called by then().
  template <class T>
  __device__ __forceinline__ T of_rank(int r) const {
    T value;
    auto* const to = reinterpret_cast<std::uint32_t*>(&value);
    for (unsigned i = 0; i < sizeof(T) / sizeof(std::uint32_t); ++i) to[i] = m_messages->word[r][i];
    return value;
  }

 private:
  template <class Step, class Then>
  __device__ __forceinline__ void run_to_barrier(Step const& step, std::uint32_t const* mine,
                                                 int words, Then const& then) {
    this->run_on_team(step);
    spanning_barrier(this->m_barrier, this->m_arrivals, gridDim.x, m_control, *m_distances, mine,
                     words, *m_messages, then);
  }

  spanning_control* m_control;
  peer_distances const* m_distances;
  received_messages* m_messages;
};

template <int Threads, int BlocksPerProcessor, class ExecSpace, class Program>
__global__ void __launch_bounds__(Threads, BlocksPerProcessor)
    run_program(__grid_constant__ Program const program, std::uint64_t* barrier) {
  extern __shared__ __align__(64) std::uint64_t scratch[];
  __shared__ alignas(16) std::byte shared[sizeof(typename Program::shared)];
  __shared__ std::uint64_t arrivals;
  cooperative_grid<ExecSpace> grid(barrier, reinterpret_cast<std::byte*>(scratch), &arrivals);
  program(grid, reinterpret_cast<typename Program::shared&>(shared));
}

template <int Threads, int BlocksPerProcessor, class ExecSpace, class Program>
__global__ void __launch_bounds__(Threads, BlocksPerProcessor)
    run_spanning_program(__grid_constant__ Program const program, std::uint64_t* barrier,
                         spanning_control* control,
                         __grid_constant__ peer_distances const distances) {
  extern __shared__ __align__(64) std::uint64_t scratch[];
  __shared__ alignas(16) std::byte shared[sizeof(typename Program::shared)];
  __shared__ std::uint64_t arrivals;
  __shared__ received_messages messages;
  spanning_grid<ExecSpace> grid(barrier, reinterpret_cast<std::byte*>(scratch), &arrivals, control,
                                distances, &messages);
  program(grid, reinterpret_cast<typename Program::shared&>(shared));
}

template <class ExecSpace, class Step>
__global__ void __launch_bounds__(Step::threads, Step::teams_at_once)
    run_step(__grid_constant__ Step const step) {
  extern __shared__ __align__(64) std::uint64_t scratch[];
  team<ExecSpace> t(block(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                          static_cast<int>(threadIdx.x), Step::threads,
                          reinterpret_cast<std::byte*>(scratch)));
  step(t);
}

/// Returns the memory pool of a device for work of ours. It lives as long as the process.
inline cudaMemPool_t memory_pool_of(int device) {
  static std::mutex mutex;
  static std::vector<cudaMemPool_t> pools;
  std::lock_guard<std::mutex> const lock(mutex);
  auto const d = static_cast<std::size_t>(device);
  if (pools.size() <= d) pools.resize(d + 1);
  if (pools[d] != nullptr) return pools[d];
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  std::size_t free = 0, all = 0;
  if (cudaMemPoolCreate(&pools[d], &properties) != cudaSuccess ||
      cudaMemGetInfo(&free, &all) != cudaSuccess)
    return pools[d] = nullptr;
  std::uint64_t kept = all / 16;
  cudaMemPoolSetAttribute(pools[d], cudaMemPoolAttrReleaseThreshold, &kept);
  return pools[d];
}

/// Whether programs may run in one kernel, whose blocks wait for each other. With KARPOS_STEPWISE
/// each step of a program is a kernel of its own. Tools that follow every access of a kernel need
/// it: they never see the end of such a wait (CONTRIBUTING.md).
#if defined(KARPOS_STEPWISE)
inline constexpr bool has_cooperative_kernels = false;
#else
inline constexpr bool has_cooperative_kernels = true;
#endif

template <class ExecSpace>
struct part {
  static constexpr bool is_device = true;
  static constexpr int warp_width = 32;
  static constexpr bool has_wide_cas = has_compare_and_swap_16, reads_wide = has_wide_cas;
  static constexpr bool has_grid_barrier = has_cooperative_kernels, counts_votes = true;
  static constexpr bool bounds_registers = true;
  template <int W>
  using tile = tile_of_width<W>;
  /// Returns the tile that the calling thread is a lane of. Other spaces need the member of a team
  /// for it.
  template <int W, class Member>
  KOKKOS_FUNCTION static tile<W> make_tile(Member const& /*member*/) {
    return {};
  }
  using team_handle = block;

  /// The shared memory that a block of this compute capability can have, less the reserved bytes.
  static constexpr int max_scratch_bytes =
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100)
      227 * 1024
#elif defined(KOKKOS_ARCH_AMPERE80) || defined(KOKKOS_ARCH_AMPERE87)
      163 * 1024
#elif defined(KOKKOS_ARCH_AMPERE86) || defined(KOKKOS_ARCH_ADA89) || \
    defined(KOKKOS_ARCH_BLACKWELL120)
      99 * 1024
#else
      48 * 1024
#endif
      - static_cast<int>(block::reserved_bytes);

  static int processors(ExecSpace const& exec) {
    return exec.cuda_device_prop().multiProcessorCount;
  }
  static std::size_t cache_bytes(ExecSpace const& exec) {
    return static_cast<std::size_t>(exec.cuda_device_prop().l2CacheSize);
  }
  /// Allocates memory on the stream of `exec`, from a pool that keeps what is freed, up to a
  /// sixteenth of the device's memory. Returns null if there is none.
  static std::byte* allocate_in_order(ExecSpace const& exec, std::size_t bytes) {
    cudaSetDevice(exec.cuda_device());
    cudaMemPool_t const pool = memory_pool_of(exec.cuda_device());
    void* memory = nullptr;
    if (pool != nullptr &&
        cudaMallocFromPoolAsync(&memory, bytes, pool, exec.cuda_stream()) == cudaSuccess)
      return static_cast<std::byte*>(memory);
    cudaGetLastError();  // so that later calls do not report this one
    return nullptr;
  }
  static void free_in_order(ExecSpace const& exec, void* memory) {
    cudaFreeAsync(memory, exec.cuda_stream());
  }
  /// Returns the number of threads of the block for which `yes` holds. All threads of the block
  /// take part.
  KOKKOS_FUNCTION static int count_votes([[maybe_unused]] bool yes) {
    int count = 0;
    KOKKOS_IF_ON_DEVICE((count = count_in_block(yes);))
    return count;
  }

  /// Throws std::runtime_error if a kernel did not start. Clears the error.
  static void require_started(cudaError_t e, std::string const& label) {
    if (e == cudaSuccess) return;
    cudaGetLastError();
    throw std::runtime_error("karpos: the kernel " + label + " did not start (" +
                             cudaGetErrorString(e) + "): report this with the device's name");
  }
  /// Runs a league by a kernel of its own, and not by a Kokkos team policy, which gives a block no
  /// more than 48 KB. The kernel is announced to Kokkos Tools as a team policy is.
  /// Throws: std::runtime_error if the kernel cannot be started.
  template <class Step>
  static void run_league(std::string const& label, ExecSpace const& exec, int league,
                         Step const& step) {
    announced_kernel const announced(label, exec);
    constexpr std::size_t bytes = block::reserved_bytes + Step::scratch_bytes;
    auto* const kernel = &run_step<ExecSpace, Step>;
    cudaSetDevice(exec.cuda_device());
    cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(bytes));
    void* arguments[] = {const_cast<Step*>(&step)};
    if (e == cudaSuccess)
      e = cudaLaunchKernel(reinterpret_cast<void const*>(kernel),
                           dim3(static_cast<unsigned>(league)), dim3(Step::threads), arguments,
                           bytes, exec.cuda_stream());
    require_started(e, label);
  }
  /// Runs a program in one cooperative kernel. Asynchronous to the host.
  /// Returns: whether the kernel was started. It is not if its blocks do not all fit on the device
  /// at once, if a block has too little shared memory, or if there are no cooperative kernels.
  /// Throws: std::runtime_error if the kernel cannot be started for another reason.
  template <int Threads, int BlocksPerProcessor, class Program>
  static bool run_cooperatively(ExecSpace const& exec, int teams, std::size_t scratch_bytes,
                                std::uint64_t* barrier, Program const& program) {
    auto* const kernel = &run_program<Threads, BlocksPerProcessor, ExecSpace, Program>;
    cudaSetDevice(exec.cuda_device());
    bool const has_scratch =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(scratch_bytes)) == cudaSuccess;
    void* arguments[] = {const_cast<Program*>(&program), &barrier};
    cudaError_t const e =
        has_scratch ? cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(kernel),
                                                  dim3(static_cast<unsigned>(teams)), dim3(Threads),
                                                  arguments, scratch_bytes, exec.cuda_stream())
                    : cudaErrorLaunchOutOfResources;
    if (e == cudaErrorCooperativeLaunchTooLarge || e == cudaErrorNotSupported ||
        e == cudaErrorLaunchOutOfResources) {
      cudaGetLastError();  // clears the error
      return false;
    }
    require_started(e, Program::label);
    return true;
  }

  static constexpr bool spans_devices = has_cooperative_kernels;
  using peer_window = cuda::peer_window;
  static void identify(ExecSpace const& exec, unsigned char (&to)[16]) {
    std::memcpy(to, exec.cuda_device_prop().uuid.bytes, sizeof to);
  }
  template <int Threads, int BlocksPerProcessor, class Program>
  static bool can_span(ExecSpace const& exec, int teams, std::size_t scratch_bytes) {
    auto* const kernel = &run_spanning_program<Threads, BlocksPerProcessor, ExecSpace, Program>;
    int blocks = 0;
    bool const known = cudaSetDevice(exec.cuda_device()) == cudaSuccess &&
                       cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(scratch_bytes)) == cudaSuccess &&
                       cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Threads,
                                                                     scratch_bytes) == cudaSuccess;
    if (!known) cudaGetLastError();  // clears the error
    return known && blocks * processors(exec) >= teams;
  }
  template <int Threads, int BlocksPerProcessor, class Program>
  static void run_spanning(ExecSpace const& exec, int teams, std::size_t scratch_bytes,
                           std::uint64_t* barrier, peer_window const& window,
                           Program const& program) {
    auto* const kernel = &run_spanning_program<Threads, BlocksPerProcessor, ExecSpace, Program>;
    spanning_control* control = window.control();
    peer_distances distances = window.distances();
    void* arguments[] = {const_cast<Program*>(&program), &barrier, &control, &distances};
    require_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(kernel),
                                             dim3(static_cast<unsigned>(teams)), dim3(Threads),
                                             arguments, scratch_bytes, exec.cuda_stream()),
                 "the start of a kernel that spans devices");
  }
};

}  // namespace cuda
}  // namespace karpos::device

#endif  // KOKKOS_ENABLE_CUDA
