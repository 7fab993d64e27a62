// SPDX-License-Identifier: Apache-2.0
#include <karpos/build_sorted_lists.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

std::size_t use_build_sorted_lists(space const& exec, Kokkos::View<float**, space> const& scores) {
  auto const lists = karpos::build_sorted_lists(exec, scores);
  return sizeof(lists);
}

}  // namespace karpos_test
