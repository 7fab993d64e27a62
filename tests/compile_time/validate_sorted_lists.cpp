// SPDX-License-Identifier: Apache-2.0
#include <karpos/validate_sorted_lists.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;

void use_validate_sorted_lists(
    space const& exec,
    karpos::sorted_lists<std::uint32_t, float, space::memory_space> const& lists) {
  karpos::validate_sorted_lists(exec, lists);
}

}  // namespace karpos_test
