// SPDX-License-Identifier: Apache-2.0
#include <karpos/unordered_map.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;
using map_type = karpos::unordered_map<std::uint32_t, std::uint32_t, space>;

struct insert_ids {
  map_type map;
  ids keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { map.insert(keys(i), 1u); }
};

std::uint64_t use_unordered_map(space const& exec, ids const& keys) {
  map_type const map(keys.extent(0));
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(exec, 0, keys.extent(0)), insert_ids{map, keys});
  return map.size();
}

}  // namespace karpos_test
