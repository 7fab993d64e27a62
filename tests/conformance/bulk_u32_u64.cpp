// SPDX-License-Identifier: Apache-2.0
#include "conformance/bulk_suite.hpp"

TEST_CASE("hash_map<u32, u64> in bulk, buckets of one slot") {
  using karpos_test::space;
  using map = karpos::hash_map<std::uint32_t, std::uint64_t, space, karpos::hash<std::uint32_t>,
                               karpos::equal_to<std::uint32_t>, karpos::double_hashing, 1>;
  karpos_test::bulk_suite<map>("u32, u64, buckets of one slot").run();
}
