// SPDX-License-Identifier: Apache-2.0
#include "conformance/ref_suite.hpp"

TEST_CASE("hash_map<i32, float> in kernels, linear probing") {
  karpos_test::check_every_bucket<std::int32_t, float, karpos::linear_probing>();
}
TEST_CASE("hash_map<i32, float> in kernels, double hashing") {
  karpos_test::check_every_bucket<std::int32_t, float, karpos::double_hashing>();
}
