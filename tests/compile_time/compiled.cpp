// SPDX-License-Identifier: Apache-2.0
#include <karpos/compiled.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

std::uint64_t use_compiled(space const& exec, ids const& keys, ids const& values) {
  karpos::compiled::hash_map<std::uint32_t, std::uint32_t> map(exec, keys.extent(0));
  map.insert(exec, keys, values);
  map.find(exec, keys, values, 0u);
  return karpos::compiled::reduce_by_key(exec, keys, values, keys, values);
}

}  // namespace karpos_test
