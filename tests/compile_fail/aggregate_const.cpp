// SPDX-License-Identifier: Apache-2.0
/// \file
/// Results of an aggregate in a view that is const.
#include <karpos/aggregates.hpp>

#ifdef KARPOS_GOOD
using number = std::uint32_t;
#else
using number = std::uint32_t const;
#endif

auto sum(Kokkos::View<std::uint32_t*> const& prices, Kokkos::View<number*> const& revenue) {
  return karpos::aggregate(prices, karpos::plus{}, revenue);
}
