// SPDX-License-Identifier: Apache-2.0
#include <karpos/reduce_by_key.hpp>
#include <karpos/reproducible_plus.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

std::uint64_t use_reproducible_plus(space const& exec,
                                    Kokkos::View<std::uint32_t const*, space> const& keys,
                                    Kokkos::View<double const*, space> const& column,
                                    Kokkos::View<std::uint32_t*, space> const& out,
                                    Kokkos::View<double*, space> const& sums) {
  return karpos::reduce_by_key(exec, keys, out,
                               karpos::aggregate(column, karpos::reproducible_plus{}, sums));
}

}  // namespace karpos_test
