// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <karpos/detail/common/arrays.hpp>
#include <string>

// The build chooses where the driver and the benchmarks run (KARPOS_BACKEND).
#if !defined(KARPOS_DRIVER_SPACE)
#define KARPOS_DRIVER_SPACE Kokkos::DefaultExecutionSpace
#endif

namespace karpos::perf {

using space = KARPOS_DRIVER_SPACE;
using memory = space::memory_space;

template <class T>
using array = Kokkos::View<T*, memory>;

/// Whether plain host code can access the memory of the library's kernels, and can be compared with
/// it.
inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible;

/// Allocates an uninitialized array. Throws: karpos::allocation_error.
template <class T>
array<T> make_array(std::string const& label, std::size_t n) {
  return detail::allocate_or_explain<memory>(n * sizeof(T), label, "ask for less", [&] {
    return array<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), n);
  });
}

inline auto range(space const& exec, std::uint64_t n) {
  return Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>(exec, 0, n);
}

}  // namespace karpos::perf
