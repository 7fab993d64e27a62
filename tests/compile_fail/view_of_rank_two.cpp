// SPDX-License-Identifier: Apache-2.0
/// \file
/// A table of two columns in one view: rows() takes the columns one by one.
#include <karpos/rows.hpp>

std::uint64_t size(Kokkos::View<int**> const& table) {
#ifdef KARPOS_GOOD
  return karpos::rows(Kokkos::subview(table, Kokkos::ALL, 0),
                      Kokkos::subview(table, Kokkos::ALL, 1))
      .size();
#else
  return karpos::rows(table).size();
#endif
}
