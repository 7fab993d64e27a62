// SPDX-License-Identifier: Apache-2.0
/// \file
/// Passes the value column of a partition's rows before the key column.
#include <karpos/partition.hpp>

struct row {
#ifdef KARPOS_GOOD
  std::uint32_t key, value;
#else
  std::uint32_t value, key;
#endif
};

void split(Kokkos::View<std::uint32_t*> const& keys, Kokkos::View<row*> const& out,
           Kokkos::View<std::uint32_t*> const& offsets) {
  karpos::partition(Kokkos::DefaultExecutionSpace{}, keys, keys, out, offsets);
}
