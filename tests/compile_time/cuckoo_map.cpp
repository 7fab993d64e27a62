// SPDX-License-Identifier: Apache-2.0
#include <karpos/cuckoo_map.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

void use_cuckoo_map(space const& exec, ids const& keys, ids const& values) {
  karpos::cuckoo_map<std::uint32_t, std::uint32_t> const map(exec, keys, values);
  map.find(exec, keys, values, 0u);
}

}  // namespace karpos_test
