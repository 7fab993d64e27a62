// SPDX-License-Identifier: Apache-2.0
#include <karpos/aggregates.hpp>
#include <karpos/reduce_by_key.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

std::uint64_t use_aggregates(space const& exec,
                             Kokkos::View<std::uint32_t const*, space> const& keys,
                             Kokkos::View<double const*, space> const& column,
                             Kokkos::View<std::uint32_t*, space> const& out,
                             Kokkos::View<double*, space> const& sums,
                             Kokkos::View<double*, space> const& least) {
  return karpos::reduce_by_key(
      exec, keys, out, karpos::aggregate(column, karpos::plus{}, sums, karpos::minimum{}, least));
}

}  // namespace karpos_test
