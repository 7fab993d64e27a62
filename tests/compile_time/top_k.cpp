// SPDX-License-Identifier: Apache-2.0
#include <karpos/top_k.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

karpos::top_k_report use_top_k(
    space const& exec, karpos::sorted_lists<std::uint32_t, float, space::memory_space> const& lists,
    ids const& best, Kokkos::View<double*, space> const& sums) {
  return karpos::top_k(exec, lists, best.extent(0), best, sums);
}

}  // namespace karpos_test
