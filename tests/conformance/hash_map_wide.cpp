// SPDX-License-Identifier: Apache-2.0
/// \file
/// Buckets of 16 to 64 slots, for the widest tiles.
#include "conformance/ref_suite.hpp"

using karpos_test::check_map;

TEST_CASE("hash_map<u32, u32> in kernels, wide buckets") {
  check_map<std::uint32_t, std::uint32_t, karpos::linear_probing, 16, 16>();
#if KARPOS_FULL_TESTS
  check_map<std::uint32_t, std::uint32_t, karpos::linear_probing, 32, 1>();
  check_map<std::uint32_t, std::uint32_t, karpos::double_hashing, 32, 16>();
#endif
  check_map<std::uint32_t, std::uint32_t, karpos::double_hashing, 32, 32>();
  check_map<std::uint32_t, std::uint32_t, karpos::double_hashing, 64, 32>();
}
TEST_CASE("hash_map<u64, u64> in kernels, wide buckets") {
  check_map<std::uint64_t, std::uint64_t, karpos::double_hashing, 16, 16>();
#if KARPOS_FULL_TESTS
  check_map<std::uint64_t, std::uint64_t, karpos::linear_probing, 32, 32>();
#endif
}
