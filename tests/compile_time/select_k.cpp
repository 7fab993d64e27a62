// SPDX-License-Identifier: Apache-2.0
#include <karpos/select_k.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using ids = Kokkos::View<std::uint32_t*, space>;

void use_select_k(space const& exec, Kokkos::View<float*, space> const& scores,
                  ids const& indices) {
  karpos::select_k(exec, scores, indices.extent(0), indices, Kokkos::View<float*, space>());
}

}  // namespace karpos_test
