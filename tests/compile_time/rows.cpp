// SPDX-License-Identifier: Apache-2.0
#include <karpos/rows.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

std::uint64_t use_rows(Kokkos::View<std::int32_t const*, space> const& i,
                       Kokkos::View<double const*, space> const& x) {
  return karpos::rows(i, x).size();
}

}  // namespace karpos_test
