// SPDX-License-Identifier: Apache-2.0
#include <karpos/partitioned_join.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

std::uint64_t use_partitioned_join(space const& exec,
                                   Kokkos::View<std::int32_t const*, space> const& left,
                                   Kokkos::View<std::int32_t const*, space> const& right,
                                   Kokkos::View<std::uint32_t*, space> const& l,
                                   Kokkos::View<std::uint32_t*, space> const& r) {
  return karpos::partitioned_join(exec, karpos::rows(left), karpos::rows(right),
                                  karpos::join_kind::inner, l, r);
}

}  // namespace karpos_test
