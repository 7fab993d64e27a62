// SPDX-License-Identifier: Apache-2.0
#include "conformance/bulk_suite.hpp"

TEST_CASE("hash_map<i64, double> in bulk, linear probing") {
  using karpos_test::space;
  using map = karpos::hash_map<std::int64_t, double, space, karpos::hash<std::int64_t>,
                               karpos::equal_to<std::int64_t>, karpos::linear_probing>;
  karpos_test::bulk_suite<map>("i64, double, linear probing").run();
}
