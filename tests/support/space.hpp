// SPDX-License-Identifier: Apache-2.0
/// \file
/// The execution space under test, and vectors carried to and from its memory.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

namespace karpos_test {

using space = KARPOS_TEST_SPACE;

template <class X>
using view = Kokkos::View<X*, typename space::memory_space>;

/// A view of the space under test with a copy of some host data.
template <class X>
view<X> to_space(std::vector<X> const& from) {
  view<X> to(Kokkos::view_alloc(Kokkos::WithoutInitializing, "karpos_test::data"), from.size());
  Kokkos::deep_copy(to, Kokkos::View<X const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                            from.data(), from.size()));
  return to;
}

/// The first n elements of a view; all of them by default.
template <class View>
std::vector<typename View::non_const_value_type> to_host(View const& from, std::size_t n) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, from);
  return std::vector<typename View::non_const_value_type>(mirror.data(), mirror.data() + n);
}
template <class View>
auto to_host(View const& from) {
  return to_host(from, from.extent(0));
}

/// A scalar that lives in the space under test.
template <class X>
X to_host_scalar(Kokkos::View<X, typename space::memory_space> const& from) {
  X x{};
  Kokkos::deep_copy(x, from);
  return x;
}

}  // namespace karpos_test
