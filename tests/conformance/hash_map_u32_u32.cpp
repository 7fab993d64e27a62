// SPDX-License-Identifier: Apache-2.0
#include "conformance/ref_suite.hpp"

TEST_CASE("hash_map<u32, u32> in kernels, linear probing") {
  karpos_test::check_every_bucket_and_width<std::uint32_t, std::uint32_t, karpos::linear_probing>();
}
TEST_CASE("hash_map<u32, u32> in kernels, double hashing") {
  karpos_test::check_every_bucket_and_width<std::uint32_t, std::uint32_t, karpos::double_hashing>();
}
