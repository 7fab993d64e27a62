// SPDX-License-Identifier: Apache-2.0
#include <karpos/hash_multimap.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

std::uint64_t use_hash_multimap(space const& exec, ids const& keys, ids const& values,
                                ids const& numbers) {
  karpos::hash_multimap<std::uint32_t, std::uint32_t> map(exec, keys.extent(0));
  map.insert(exec, keys, values);
  return map.retrieve(exec, keys, numbers, values);
}

}  // namespace karpos_test
