// SPDX-License-Identifier: Apache-2.0
#include "conformance/hopscotch_suite.hpp"

TEST_CASE("hopscotch_map<u32, u64> in kernels") {
  karpos_test::check_hopscotch_in_kernels<std::uint32_t, std::uint64_t>();
}
TEST_CASE("hopscotch_map<u32, u64> in bulk") {
  karpos_test::check_hopscotch_in_bulk<std::uint32_t, std::uint64_t>("u32, u64");
}
