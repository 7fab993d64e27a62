// SPDX-License-Identifier: Apache-2.0
/// \file
/// A join takes rows, of one column or several.
#include <karpos/join.hpp>

auto size(Kokkos::View<int*> const& left, Kokkos::View<int*> const& right) {
  Kokkos::DefaultExecutionSpace const exec;
#ifdef KARPOS_GOOD
  return karpos::join(exec, karpos::rows(left), karpos::rows(right), karpos::join_kind::inner)
      .size();
#else
  return karpos::join(exec, left, right, karpos::join_kind::inner).size();
#endif
}
