// SPDX-License-Identifier: Apache-2.0
#include <karpos/cuckoo_set.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

void use_cuckoo_set(space const& exec, ids const& keys, Kokkos::View<bool*, space> const& there) {
  karpos::cuckoo_set<std::uint32_t> const set(exec, keys);
  set.contains(exec, keys, there);
}

}  // namespace karpos_test
