// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys with nulls are numbered before their values are reduced.
#include <karpos/reduce_by_key.hpp>

using space = Kokkos::DefaultHostExecutionSpace;
using column = Kokkos::View<int*, Kokkos::HostSpace>;

auto sum(column const& keys, column const& values, column const& keys_out, column const& sums,
         Kokkos::View<bool*, Kokkos::HostSpace> const& known) {
#ifdef KARPOS_GOOD
  return karpos::reduce_by_key(space{}, keys, values, keys_out, sums);
#else
  return karpos::reduce_by_key(space{}, karpos::nullable(keys, known), values, keys_out, sums);
#endif
}
