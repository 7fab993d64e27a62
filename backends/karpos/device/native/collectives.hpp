// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "karpos/device/native/native.hpp"
#include "karpos/device/native/nccl.hpp"
#include "karpos/device/number_kind.hpp"

// Collectives move data between the devices of several processes, in the order of an execution
// space instance. A library of the devices' vendor does it, if the build has one. Each process is a
// rank of a group. One rank makes the id of the group and sends it to the others.
//
//   device::collectives<ExecSpace> c(exec, id, rank, ranks);
//   c.exchange(…); c.broadcast(…); c.all_reduce(…);  // enqueued: asynchronous to the host

namespace karpos::device {

namespace detail {
/// Stands for the collectives in spaces and builds that have none.
struct no_collectives {};
#if defined(KARPOS_HAS_NCCL) && defined(KOKKOS_ENABLE_CUDA)
template <class ExecSpace>
using collectives_of =
    std::conditional_t<std::is_same_v<ExecSpace, Kokkos::Cuda>, cuda::collectives, no_collectives>;
#else
// Depends on the space: nvcc would look for members of no_collectives in templates that are never
// used.
template <class ExecSpace>
using collectives_of = std::conditional_t<std::is_void_v<ExecSpace>, void, no_collectives>;
#endif
}  // namespace detail

template <class ExecSpace>
using collectives = detail::collectives_of<ExecSpace>;
template <class ExecSpace>
inline constexpr bool has_collectives =
    !std::is_same_v<collectives<ExecSpace>, detail::no_collectives>;

}  // namespace karpos::device
