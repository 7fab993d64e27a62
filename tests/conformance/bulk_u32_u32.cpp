// SPDX-License-Identifier: Apache-2.0
#include "conformance/bulk_suite.hpp"

TEST_CASE("hash_map<u32, u32> in bulk") {
  using karpos_test::space;
  karpos_test::bulk_suite<karpos::hash_map<std::uint32_t, std::uint32_t, space>>("u32").run();
}

// A lookup that probes several buckets reads its query again for every probe.
TEST_CASE("answers written over the queries") {
  using karpos_test::space, karpos_test::view;
  using key = std::uint32_t;
  std::size_t const n = 20000;
  auto const all = karpos_test::unique_keys<key>(2 * n);
  std::vector<key> const keys(all.begin(), all.begin() + n);
  for (double const load : {0.5, 0.95}) {
    karpos::hash_map<key, key, space> map(space{}, n, {.load = load});
    auto const stored = karpos_test::to_space(keys);
    map.insert_or_throw(space{}, stored, stored);
    auto const inout = karpos_test::to_space(all);
    map.find(space{}, inout, inout, 7u);
    std::vector<key> expected = all;
    for (std::size_t i = n; i < 2 * n; ++i) expected[i] = 7;
    karpos_test::same("answers over queries", karpos_test::to_host(inout) == expected, true);
    auto const first = Kokkos::subview(inout, std::pair<int, int>(0, 10)),
               next = Kokkos::subview(inout, std::pair<int, int>(1, 11));
    karpos_test::throws<std::invalid_argument>([&] { map.find(space{}, first, next, 7u); },
                                               "hash_map::find", "the output overlaps");
  }
}
