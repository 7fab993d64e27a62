// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a view in a memory space that the execution space cannot access and that is not the
/// host's: a memory space defined here.
#include <karpos/hash_map.hpp>

struct far_memory : Kokkos::HostSpace {
  using memory_space = far_memory;
  using device_type = Kokkos::Device<Kokkos::DefaultHostExecutionSpace, far_memory>;
};
template <>
struct Kokkos::is_memory_space<far_memory> : std::true_type {};

using space = Kokkos::DefaultExecutionSpace;
#ifdef KARPOS_GOOD
using memory_space = Kokkos::HostSpace;  // for devices, too: a blocking call copies it
#else
using memory_space = far_memory;
#endif

using map = karpos::hash_map<unsigned, unsigned, space>;

karpos::insert_report insert(
    map& m, Kokkos::View<unsigned*, memory_space, Kokkos::MemoryUnmanaged> const& keys) {
  return m.insert(space{}, keys, 1u);
}
