// SPDX-License-Identifier: Apache-2.0
#include "conformance/ref_suite.hpp"

TEST_CASE("hash_map<i64, double> in kernels, linear probing") {
  karpos_test::check_every_bucket<std::int64_t, double, karpos::linear_probing>();
}
TEST_CASE("hash_map<i64, double> in kernels, double hashing") {
  karpos_test::check_every_bucket<std::int64_t, double, karpos::double_hashing>();
}
