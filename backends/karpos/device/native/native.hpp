// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "karpos/device/native/generic_program.hpp"
#include "karpos/device/native/host_program.hpp"
#include "karpos/device/native/step_function.hpp"
#if defined(KOKKOS_ENABLE_CUDA) && !defined(KARPOS_NATIVE_GENERIC)
#include "karpos/device/native/cuda_program.hpp"
#endif

// The one place that chooses the native part of an execution space. There are two kinds of choice:
//
//   native_part<ExecSpace>   types and launches, chosen by execution space: the same in every pass
//                            of a compiler
//   native_device::          functions called inside KOKKOS_IF_ON_DEVICE. They know the pass of
//                            the compiler, but no execution space: they belong to the one device
//                            backend that a build of Kokkos has
//
// A native part is tuned (host, cuda) or generic: on Kokkos alone, for any device.
// KARPOS_NATIVE_GENERIC (CMake: KARPOS_NATIVE=generic) selects the generic part for CUDA as well.

#if defined(KOKKOS_ENABLE_CUDA)
// Stands before the templates of a program. They call host functions only if a launched_grid runs
// them, so that nvcc's check of such calls is disabled.
#define KARPOS_PROGRAM _Pragma("nv_exec_check_disable")
#else
#define KARPOS_PROGRAM
#endif

// Stand before loops over arrays that are to stay in a GPU thread's registers. A tuned part defines
// them.
#if !defined(KARPOS_UNROLL)
#define KARPOS_UNROLL
#define KARPOS_UNROLL_BY(n)
#endif

namespace karpos::device {

#if defined(KOKKOS_ENABLE_CUDA) && !defined(KARPOS_NATIVE_GENERIC)
namespace native_device = cuda;
#else
namespace native_device = generic;
#endif

namespace detail {
/// Whether a space is a CPU, by the memory that Kokkos gives it. A GPU with unified memory, which
/// the host reads too, is no CPU.
template <class ExecSpace>
inline constexpr bool has_host_memory =
    std::is_same_v<typename ExecSpace::memory_space, Kokkos::HostSpace>;
}  // namespace detail

template <class ExecSpace>
using native_part = std::conditional_t<detail::has_host_memory<ExecSpace>, host::part<ExecSpace>,
                                       native_device::part<ExecSpace>>;

}  // namespace karpos::device
