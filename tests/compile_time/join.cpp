// SPDX-License-Identifier: Apache-2.0
#include <karpos/join.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

void use_join(space const& exec, Kokkos::View<std::int32_t const*, space> const& left,
              Kokkos::View<std::int32_t const*, space> const& right,
              Kokkos::View<std::uint32_t*, space> const& l,
              Kokkos::View<std::uint32_t*, space> const& r) {
  karpos::row_index const index(exec, karpos::rows(right));
  karpos::join const join(exec, karpos::rows(left), index, karpos::join_kind::inner);
  join.write(exec, l, r);
}

}  // namespace karpos_test
