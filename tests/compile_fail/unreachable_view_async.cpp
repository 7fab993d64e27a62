// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a view of values in a memory space that the execution space cannot access to an
/// asynchronous call, which copies nothing. On a device, that space is host memory. Without
/// a device, it is a memory space defined here.
#include <karpos/hash_map.hpp>

struct far_memory : Kokkos::HostSpace {
  using memory_space = far_memory;
  using device_type = Kokkos::Device<Kokkos::DefaultHostExecutionSpace, far_memory>;
};
template <>
struct Kokkos::is_memory_space<far_memory> : std::true_type {};

using space = Kokkos::DefaultExecutionSpace;
constexpr bool on_device = !Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible;
#ifdef KARPOS_GOOD
using memory_space = space::memory_space;
#else
using memory_space = std::conditional_t<on_device, Kokkos::HostSpace, far_memory>;
#endif

using map = karpos::hash_map<unsigned, unsigned, space>;

void insert(map& m, Kokkos::View<unsigned*, space::memory_space> const& keys,
            Kokkos::View<unsigned*, memory_space, Kokkos::MemoryUnmanaged> const& values,
            map::report_view const& report) {
  m.insert_async(space{}, keys, values, report);
}
