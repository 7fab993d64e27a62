// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a const view for the counts of an aggregate.
#include <karpos/aggregates.hpp>

#ifdef KARPOS_GOOD
using number = std::uint32_t;
#else
using number = std::uint32_t const;
#endif

auto count(Kokkos::View<number*> const& orders) { return karpos::aggregate_count(orders); }
