// SPDX-License-Identifier: Apache-2.0
#include "conformance/bulk_suite.hpp"

TEST_CASE("hash_map<u16, u8> in bulk") {
  using karpos_test::space;
  using map = karpos::hash_map<std::uint16_t, std::uint8_t, space>;
  karpos_test::bulk_suite<map>("u16, u8").run();
}
