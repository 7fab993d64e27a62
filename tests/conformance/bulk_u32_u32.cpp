// SPDX-License-Identifier: Apache-2.0
#include "conformance/bulk_suite.hpp"

TEST_CASE("hash_map<u32, u32> in bulk") {
  using karpos_test::space;
  karpos_test::bulk_suite<karpos::hash_map<std::uint32_t, std::uint32_t, space>>("u32").run();
}
