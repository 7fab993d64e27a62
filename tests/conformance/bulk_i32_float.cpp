// SPDX-License-Identifier: Apache-2.0
#include "conformance/bulk_suite.hpp"

TEST_CASE("hash_map<i32, float> in bulk, linear probing") {
  using karpos_test::space;
  using map = karpos::hash_map<std::int32_t, float, space, karpos::hash<std::int32_t>,
                               karpos::equal_to<std::int32_t>, karpos::linear_probing>;
  karpos_test::bulk_suite<map>("i32, float, linear probing").run();
}
