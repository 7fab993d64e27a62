// SPDX-License-Identifier: Apache-2.0
#include "conformance/ref_suite.hpp"

TEST_CASE("hash_map<u32, u64> in kernels, linear probing") {
  karpos_test::check_every_bucket<std::uint32_t, std::uint64_t, karpos::linear_probing>();
}
TEST_CASE("hash_map<u32, u64> in kernels, double hashing") {
  karpos_test::check_every_bucket<std::uint32_t, std::uint64_t, karpos::double_hashing>();
}
