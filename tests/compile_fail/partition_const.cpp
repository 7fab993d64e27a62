// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a const view for the rows of a partition.
#include <karpos/partition.hpp>

#ifdef KARPOS_GOOD
using number = karpos::key_value<std::uint32_t, std::uint32_t>;
#else
using number = karpos::key_value<std::uint32_t, std::uint32_t> const;
#endif

void split(Kokkos::View<std::uint32_t*> const& keys, Kokkos::View<number*> const& rows,
           Kokkos::View<std::uint32_t*> const& offsets) {
  karpos::partition(Kokkos::DefaultExecutionSpace{}, keys, keys, rows, offsets);
}
