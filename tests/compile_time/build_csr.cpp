// SPDX-License-Identifier: Apache-2.0
#include <karpos/build_csr.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

std::uint64_t use_build_csr(space const& exec, ids const& sources, ids const& targets) {
  return karpos::build_csr(exec, 1000, sources, targets, {.symmetrise = true}).vertices();
}

}  // namespace karpos_test
