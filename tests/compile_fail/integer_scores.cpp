// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scores of ranked lists are numbers that aggregates take: float or double.
#include <karpos/build_sorted_lists.hpp>

#ifdef KARPOS_GOOD
using score = double;
#else
using score = int;
#endif

auto make(Kokkos::View<score**> const& table) {
  return karpos::build_sorted_lists(Kokkos::DefaultExecutionSpace{}, table);
}
