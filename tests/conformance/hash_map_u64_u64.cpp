// SPDX-License-Identifier: Apache-2.0
#include "conformance/ref_suite.hpp"

TEST_CASE("hash_map<u64, u64> in kernels, linear probing") {
  karpos_test::check_every_bucket_and_width<std::uint64_t, std::uint64_t, karpos::linear_probing>();
}
TEST_CASE("hash_map<u64, u64> in kernels, double hashing") {
  karpos_test::check_every_bucket_and_width<std::uint64_t, std::uint64_t, karpos::double_hashing>();
}
