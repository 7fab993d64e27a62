// SPDX-License-Identifier: Apache-2.0
#include "conformance/host_views_suite.hpp"

namespace {

TEST_CASE("host views: every operation of hash_map<u32, u32>") {
  every_operation<karpos::hash_map<u32, u32, space>>();
}
TEST_CASE("host views: every operation of hopscotch_map") {
  every_operation<karpos::hopscotch_map<u64, u32, space>>();
}

}  // namespace
