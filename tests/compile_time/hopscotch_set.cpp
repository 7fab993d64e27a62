// SPDX-License-Identifier: Apache-2.0
#include <karpos/hopscotch_set.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

std::uint64_t use_hopscotch_set(space const& exec, ids const& keys,
                                Kokkos::View<bool*, space> const& there) {
  karpos::hopscotch_set<std::uint32_t> set(exec, keys.extent(0));
  set.insert(exec, keys);
  set.contains(exec, keys, there);
  return set.size(exec);
}

}  // namespace karpos_test
