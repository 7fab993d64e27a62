// SPDX-License-Identifier: Apache-2.0
#include "conformance/cuckoo_suite.hpp"

TEST_CASE("cuckoo_map<u16, u8> against the oracle") {
  karpos_test::cuckoo_suite<std::uint16_t, std::uint8_t>("u16, u8").run(
      karpos_test::cuckoo_sizes({30000, 65000}));
}
