// SPDX-License-Identifier: Apache-2.0
#include "conformance/cuckoo_suite.hpp"

TEST_CASE("cuckoo_map<i32, float> against the oracle") {
  karpos_test::cuckoo_suite<std::int32_t, float>("i32, float")
      .run(karpos_test::cuckoo_sizes({100003}));
}
