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

// The one place where an execution space chooses its native part. Two kinds of choice:
//
//   native_part<ExecSpace>   types and launches, by execution space, the same in every pass of a compiler
//   native_device::          functions inside of KOKKOS_IF_ON_DEVICE, which know the pass and no execution space:
//                            those of the one device backend that a Kokkos has
//
// A native part is tuned (host, cuda) or generic: on Kokkos alone, for any device. KARPOS_NATIVE_GENERIC (CMake:
// KARPOS_NATIVE=generic) takes the generic part for CUDA as well.

#if defined(KOKKOS_ENABLE_CUDA)
// Stands before the templates of a program: they call host functions when a launched_grid runs them, only then.
#define KARPOS_PROGRAM _Pragma("nv_exec_check_disable")
#else
#define KARPOS_PROGRAM
#endif

// Stand before loops over arrays that are to stay in a GPU thread's registers; a tuned part says what they are.
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
/// By the memory that Kokkos gives a space: unified memory, which the host reads too, makes no CPU of a GPU.
template <class ExecSpace>
inline constexpr bool has_host_memory =
    std::is_same_v<typename ExecSpace::memory_space, Kokkos::HostSpace>;
}  // namespace detail

template <class ExecSpace>
using native_part = std::conditional_t<detail::has_host_memory<ExecSpace>, host::part<ExecSpace>,
                                       native_device::part<ExecSpace>>;

}  // namespace karpos::device
