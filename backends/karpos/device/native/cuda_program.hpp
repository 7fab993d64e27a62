// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "karpos/device/team.hpp"

// CUDA kernels that Kokkos cannot launch: programs, whose blocks are all resident and meet at a barrier, and leagues
// whose teams need more scratch.

#if defined(KOKKOS_ENABLE_CUDA)
// Stands before the templates of a program: they call host functions when a launched_grid runs them, only then.
#define KARPOS_PROGRAM _Pragma("nv_exec_check_disable")
#else
#define KARPOS_PROGRAM
#endif

namespace karpos::device {

#if defined(KOKKOS_ENABLE_CUDA)

#if defined(__CUDACC__)

/// Runs a program inside of one kernel. The barrier's word grows for ever: a launch leaves a multiple of the
/// number of its blocks behind, so that a word belongs to launches of one size.
class cooperative_grid {
 public:
  using execution_space = Kokkos::Cuda;

  /// arrivals: a word of shared memory. Registers that live through all steps would be spilled to memory that every
  /// meeting drops from the L1 cache, so that nothing is kept in one.
  __device__ cooperative_grid(std::uint64_t* barrier, std::byte* scratch, std::uint64_t* arrivals)
      : m_barrier(barrier),
        m_scratch(scratch),
        m_arrivals(arrivals) {
    if (threadIdx.x == 0) *arrivals = cuda::first_meeting(barrier, gridDim.x);
  }

  template <class State>
  using handle_of = state_pointer<State>;
  template <class State>
  __device__ handle_of<State> handle(State const& s) const {
    return {&s};
  }

  template <class Step, class Then>
  __device__ __forceinline__ void run(Step const& step, Then const& then) {
    team<Kokkos::Cuda> t(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                         static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), m_scratch,
                         nullptr);
    step(t);
    cuda::meet(m_barrier, m_arrivals, gridDim.x, then);
  }
  /// Requires, as write does: called by thread 0 of a block, from `then`.
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
      v.word[i] = cuda::load_relaxed(reinterpret_cast<std::uint64_t const*>(p) + i);
    return v.whole;
  }
  template <class T>
  __device__ __forceinline__ void write(T* p, T const& v) {
    if (blockIdx.x == 0) *p = v;
  }

 private:
  std::uint64_t* m_barrier;
  std::byte* m_scratch;
  std::uint64_t* m_arrivals;  // of all blocks, up to the last meeting
};

namespace cuda {
template <int Threads, int BlocksPerProcessor, class Program>
__global__ void __launch_bounds__(Threads, BlocksPerProcessor)
    run_program(__grid_constant__ Program const program, std::uint64_t* barrier) {
  extern __shared__ __align__(64) std::uint64_t scratch[];
  __shared__ alignas(16) std::byte shared[sizeof(typename Program::shared)];
  __shared__ std::uint64_t arrivals;
  cooperative_grid grid(barrier, reinterpret_cast<std::byte*>(scratch), &arrivals);
  program(grid, reinterpret_cast<typename Program::shared&>(shared));
}
}  // namespace cuda

/// Runs a program on CUDA in one cooperative kernel. Asynchronous to the host.
/// Returns: whether it was started; not where so many blocks with so much scratch do not fit on the device at once.
template <int Threads, int BlocksPerProcessor, class Program>
bool run_cooperatively(Kokkos::Cuda const& exec, int teams, std::size_t scratch_bytes,
                       std::uint64_t* barrier, Program const& program) {
  auto* const kernel = &cuda::run_program<Threads, BlocksPerProcessor, Program>;
  cudaSetDevice(exec.cuda_device());
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(scratch_bytes));
  void* arguments[] = {const_cast<Program*>(&program), &barrier};
  if (e == cudaSuccess)
    e = cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(kernel),
                                    dim3(static_cast<unsigned>(teams)), dim3(Threads), arguments,
                                    scratch_bytes, exec.cuda_stream());
  if (e == cudaSuccess) return true;
  cudaGetLastError();  // nobody else shall find it
  return false;
}

namespace cuda {
template <class Step>
__global__ void __launch_bounds__(Step::threads, Step::teams_at_once)
    run_step(__grid_constant__ Step const step) {
  extern __shared__ __align__(64) std::uint64_t scratch[];
  team<Kokkos::Cuda> t(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                       static_cast<int>(threadIdx.x), Step::threads,
                       reinterpret_cast<std::byte*>(scratch), nullptr);
  step(t);
}
}  // namespace cuda

/// for_each_in_league on CUDA. Not a Kokkos team policy, which gives a block no more than 48 KB; announced to Kokkos
/// Tools like one. Throws std::runtime_error when the kernel cannot be started.
template <class Step>
void run_league(std::string const& label, Kokkos::Cuda const& exec, int league, Step const& step) {
  std::uint64_t id = 0;
  Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  constexpr std::size_t bytes = team<Kokkos::Cuda>::reserved_bytes + Step::scratch_bytes;
  auto* const kernel = &cuda::run_step<Step>;
  cudaSetDevice(exec.cuda_device());
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(bytes));
  void* arguments[] = {const_cast<Step*>(&step)};
  if (e == cudaSuccess)
    e = cudaLaunchKernel(reinterpret_cast<void const*>(kernel), dim3(static_cast<unsigned>(league)),
                         dim3(Step::threads), arguments, bytes, exec.cuda_stream());
  Kokkos::Tools::endParallelFor(id);
  if (e == cudaSuccess) return;
  cudaGetLastError();  // nobody else shall find it
  throw std::runtime_error("karpos: the kernel " + label + " did not start (" +
                           cudaGetErrorString(e) + "): report this with the device's name");
}

#endif  // __CUDACC__
#endif  // KOKKOS_ENABLE_CUDA

}  // namespace karpos::device
