// SPDX-License-Identifier: Apache-2.0
#include "conformance/cuckoo_suite.hpp"

TEST_CASE("cuckoo_map<u32, u32> against the oracle") {
  karpos_test::cuckoo_suite<std::uint32_t, std::uint32_t>("u32, u32")
      .run(karpos_test::cuckoo_sizes({100003, 1000000}));
}
