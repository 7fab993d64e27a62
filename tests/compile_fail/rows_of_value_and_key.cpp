// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of a partition whose value comes before their key.
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
