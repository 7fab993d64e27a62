// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <vector>

#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Returns the values in memory that kernels can access. On hosts the view refers to `values`,
/// which must outlive it.
template <class T>
array<T const> on_device(space const& exec, std::vector<T> const& values) {
  if constexpr (on_host) {
    return array<T const>(values.data(), values.size());
  } else {
    array<T> const copy = make_array<T>("values from the host", values.size());
    Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const from(values.data(),
                                                                                  values.size());
    Kokkos::deep_copy(exec, copy, from);
    exec.fence("karpos::perf: values from the host");
    return copy;
  }
}

}  // namespace karpos::perf
