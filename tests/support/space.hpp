// SPDX-License-Identifier: Apache-2.0
/// \file
/// The execution space under test, and copies of vectors to and from its memory.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

namespace karpos_test {

using space = KARPOS_TEST_SPACE;

template <class X>
using view = Kokkos::View<X*, typename space::memory_space>;

/// Copies host data to a new view of the space under test.
template <class X>
view<X> to_space(std::vector<X> const& from) {
  view<X> to(Kokkos::view_alloc(Kokkos::WithoutInitializing, "karpos_test::data"), from.size());
  Kokkos::deep_copy(to, Kokkos::View<X const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                            from.data(), from.size()));
  return to;
}

/// Copies the first n elements of a view, by default all of them, to the host.
template <class View>
std::vector<typename View::non_const_value_type> to_host(View const& from, std::size_t n) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, from);
  return std::vector<typename View::non_const_value_type>(mirror.data(), mirror.data() + n);
}
template <class View>
auto to_host(View const& from) {
  return to_host(from, from.extent(0));
}

/// Copies a scalar from the space under test to the host.
template <class X>
X to_host_scalar(Kokkos::View<X, typename space::memory_space> const& from) {
  X x{};
  Kokkos::deep_copy(x, from);
  return x;
}

}  // namespace karpos_test
