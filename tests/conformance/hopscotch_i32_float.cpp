// SPDX-License-Identifier: Apache-2.0
#include "conformance/hopscotch_suite.hpp"

TEST_CASE("hopscotch_map<i32, float> in kernels") {
  karpos_test::check_hopscotch_in_kernels<std::int32_t, float>();
}
TEST_CASE("hopscotch_map<i32, float> in bulk") {
  karpos_test::check_hopscotch_in_bulk<std::int32_t, float>("i32, float");
}
