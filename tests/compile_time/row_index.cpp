// SPDX-License-Identifier: Apache-2.0
#include <karpos/row_index.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

void use_row_index(space const& exec, Kokkos::View<std::int32_t const*, space> const& i,
                   Kokkos::View<double const*, space> const& x,
                   Kokkos::View<std::uint32_t*, space> const& out) {
  auto const rows = karpos::rows(i, x);
  karpos::row_index const index(exec, rows);
  index.find(exec, rows, out);
}

}  // namespace karpos_test
