// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a const view for the counts of keys.
#include <karpos/reduce_by_key.hpp>

#ifdef KARPOS_GOOD
using number = std::uint32_t;
#else
using number = std::uint32_t const;
#endif

void count(Kokkos::View<std::uint32_t*> const& keys, Kokkos::View<number*> const& counts) {
  karpos::count_by_key(Kokkos::DefaultExecutionSpace{}, keys, keys, counts);
}
