// SPDX-License-Identifier: Apache-2.0
/// \file
/// A join whose sides have columns of different types.
#include <karpos/join.hpp>

#ifdef KARPOS_GOOD
using type_of_left = std::int64_t;
#else
using type_of_left = std::int32_t;
#endif

std::uint64_t size(Kokkos::View<type_of_left*> const& left,
                   Kokkos::View<std::int64_t*> const& right) {
  Kokkos::DefaultExecutionSpace const exec;
  karpos::row_index const index(exec, karpos::rows(right));
  return karpos::join_size(exec, karpos::rows(left), index, karpos::join_kind::inner);
}
