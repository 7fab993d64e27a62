// SPDX-License-Identifier: Apache-2.0
#include <karpos/hash_multiset.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

std::uint64_t use_hash_multiset(space const& exec, ids const& keys, ids const& counts) {
  karpos::hash_multiset<std::uint32_t> set(exec, keys.extent(0));
  set.insert(exec, keys);
  set.count(exec, keys, counts);
  return set.size();
}

}  // namespace karpos_test
