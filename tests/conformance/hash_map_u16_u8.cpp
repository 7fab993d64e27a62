// SPDX-License-Identifier: Apache-2.0
#include "conformance/ref_suite.hpp"

TEST_CASE("hash_map<u16, u8> in kernels, linear probing") {
  karpos_test::check_every_bucket<std::uint16_t, std::uint8_t, karpos::linear_probing>();
}
TEST_CASE("hash_map<u16, u8> in kernels, double hashing") {
  karpos_test::check_every_bucket<std::uint16_t, std::uint8_t, karpos::double_hashing>();
}
