// SPDX-License-Identifier: Apache-2.0
#include <karpos/partition.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

void use_partition(
    space const& exec, Kokkos::View<std::uint32_t const*, space> const& keys,
    Kokkos::View<karpos::key_value<std::uint32_t, std::uint32_t>*, space> const& rows,
    Kokkos::View<std::uint64_t*, space> const& offsets) {
  karpos::partition(exec, keys, karpos::row_numbers{}, rows, offsets);
}

}  // namespace karpos_test
