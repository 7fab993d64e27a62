// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys with nulls are numbered before values are reduced; values with nulls are a column of an
/// aggregate.
#include <karpos/reduce_by_key.hpp>

using space = Kokkos::DefaultHostExecutionSpace;
using column = Kokkos::View<int*, Kokkos::HostSpace>;

#ifdef KARPOS_GOOD
using with_nulls = column;
#else
using with_nulls = karpos::nullable<column, Kokkos::View<bool*, Kokkos::HostSpace>>;
#endif

auto sum(with_nulls const& keys, column const& values, column const& keys_out, column const& sums) {
  return karpos::reduce_by_key(space{}, keys, values, keys_out, sums);
}
auto sum_of_nulls(column const& keys, with_nulls const& values, column const& keys_out,
                  column const& sums) {
  return karpos::reduce_by_key(space{}, keys, values, keys_out, sums);
}
