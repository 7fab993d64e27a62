// SPDX-License-Identifier: Apache-2.0
#include "conformance/bulk_suite.hpp"

TEST_CASE("hash_map<u64, u64> in bulk") {
  using karpos_test::space;
  using map = karpos::hash_map<std::uint64_t, std::uint64_t, space>;
  karpos_test::bulk_suite<map>("u64, u64").run();
}
