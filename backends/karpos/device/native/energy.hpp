// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "karpos/device/native/nvml.hpp"

// The energy that a device has used, if its vendor's library reports it.
//
//   device::energy_counter<ExecSpace> c(exec);
//   c.joules();      // so far; if empty, c.obstacle() says why

namespace karpos::device {

namespace detail {
/// Stands for the counter in spaces whose devices are not asked for their energy.
struct no_energy_counter {
  template <class ExecSpace>
  explicit no_energy_counter(ExecSpace const&) {}
  std::string obstacle() const { return "this backend's devices are not asked"; }
  std::optional<double> joules() const { return {}; }
};
#if defined(KOKKOS_ENABLE_CUDA)
template <class ExecSpace>
using energy_counter_of = std::conditional_t<std::is_same_v<ExecSpace, Kokkos::Cuda>,
                                             cuda::energy_counter, no_energy_counter>;
#else
template <class ExecSpace>
using energy_counter_of = no_energy_counter;
#endif
}  // namespace detail

template <class ExecSpace>
using energy_counter = detail::energy_counter_of<ExecSpace>;

}  // namespace karpos::device
