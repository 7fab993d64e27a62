// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace karpos::detail {

/// Returns the policy of a kernel with one thread for each index in [0, n), with 64-bit indices.
template <class ExecSpace>
auto index_range(ExecSpace const& exec, std::uint64_t n) {
  return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(exec, 0, n);
}

}  // namespace karpos::detail
