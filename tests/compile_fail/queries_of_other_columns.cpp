// SPDX-License-Identifier: Apache-2.0
/// \file
/// Queries an index of rows with rows of other types.
#include <karpos/row_index.hpp>

#ifdef KARPOS_GOOD
using asked = std::int64_t;
#else
using asked = std::int32_t;
#endif

void find(Kokkos::View<std::int64_t*> const& keys, Kokkos::View<asked*> const& queries,
          Kokkos::View<std::uint32_t*> const& out) {
  Kokkos::DefaultExecutionSpace const exec;
  karpos::row_index const index(exec, karpos::rows(keys));
  index.find(exec, karpos::rows(queries), out);
}
