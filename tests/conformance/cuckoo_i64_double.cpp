// SPDX-License-Identifier: Apache-2.0
#include "conformance/cuckoo_suite.hpp"

TEST_CASE("cuckoo_map<i64, double> against the oracle") {
  karpos_test::cuckoo_suite<std::int64_t, double>("i64, double")
      .run(karpos_test::cuckoo_sizes({100003}));
}
