// SPDX-License-Identifier: Apache-2.0
#include <karpos/reduce_by_key.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

std::uint64_t use_count_by_key(space const& exec,
                               Kokkos::View<std::uint32_t const*, space> const& keys,
                               Kokkos::View<std::uint32_t*, space> const& out,
                               Kokkos::View<std::uint32_t*, space> const& counts) {
  return karpos::count_by_key(exec, keys, out, counts);
}

}  // namespace karpos_test
