// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes a view for the ids of a ranked query whose type differs from the lists' ids.
#include <karpos/top_k.hpp>

#ifdef KARPOS_GOOD
using id = std::uint32_t;
#else
using id = std::uint64_t;
#endif

karpos::top_k_report rank(karpos::sorted_lists<> const& lists, Kokkos::View<id*> const& ids,
                          Kokkos::View<double*> const& scores) {
  return karpos::top_k(Kokkos::DefaultExecutionSpace{}, lists, 10, ids, scores);
}
