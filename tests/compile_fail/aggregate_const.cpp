// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a const view for the results of an aggregate.
#include <karpos/aggregates.hpp>

#ifdef KARPOS_GOOD
using number = std::uint32_t;
#else
using number = std::uint32_t const;
#endif

auto sum(Kokkos::View<std::uint32_t*> const& prices, Kokkos::View<number*> const& revenue) {
  return karpos::aggregate(prices, karpos::plus{}, revenue);
}
