// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory of a hopscotch_map: the caller's memory, other spaces, sizes beyond 32 bits.
#include <karpos/hopscotch_map.hpp>

#include "conformance/storage_suite.hpp"
#include "support/hopscotch_inspect_map.hpp"

namespace {

using karpos_test::space;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct maps_in {
  template <class Key, class T, class Space>
  using map = karpos::hopscotch_map<Key, T, Space>;
};

TEST_CASE("hopscotch_map over memory of the user's") {
  karpos_test::lives_in_memory_of_the_users<maps_in, u32, u32>();
  karpos_test::lives_in_memory_of_the_users<maps_in, u64, u64>();
}
TEST_CASE("hopscotch_map: refs find what deep_copy brings") {
  karpos_test::refs_outlive_deep_copies<maps_in, u32, u32>();
}
TEST_CASE("hopscotch_map: deep_copy between the space under test and the host") {
  karpos_test::copies_between_spaces<maps_in, u32, u32>();
  karpos_test::copies_between_spaces<maps_in, u64, u64>();
}
TEST_CASE("hopscotch_map: a frozen ref finds what is there") {
  karpos_test::frozen_refs_find<maps_in, u32, u32, 1>();
  karpos_test::frozen_refs_find<maps_in, u32, u32, 4>();
  karpos_test::frozen_refs_find<maps_in, u32, u32, 8>();
  karpos_test::frozen_refs_find<maps_in, u64, u64, 1>();
  karpos_test::frozen_refs_find<maps_in, u64, u64, 2>();
  karpos_test::frozen_refs_find<maps_in, u64, u64, 32>();
}

TEST_CASE("hopscotch_map: sizes beyond 32 bits are computed, not cut") {
  using small = karpos::hopscotch_map<u32, u32, space>;
  using large = karpos::hopscotch_map<u64, u64, space>;
  for (int exponent : {20, 31, 32, 33, 36, 40}) {
    u64 const keys = u64(1) << exponent;
    for (double load : {0.5, 0.8, 0.98}) {
      // Each seven slots have a hop word, and lines come in pairs.
      double const words = static_cast<double>(keys) / load * 8 / 7;
      double const bytes = static_cast<double>(small::bytes_for(keys, load));
      CHECK(bytes >= 8 * words);
      CHECK(bytes <= 8 * words + 128);
      CHECK(static_cast<double>(large::bytes_for(keys, load)) == 2 * bytes);
    }
  }
  CHECK(small::bytes_for(0) == 8 * 64);
  CHECK(large::bytes_for(0) == 8 * 128);
  CHECK(small::bytes_for(50, 0.9) == 8 * 64);  // 56 slots
  CHECK(small::bytes_for(51, 0.9) == 10 * 64);
}

template <class Key, class T>
void rehashes_in_both_directions() {
  karpos::hopscotch_map<Key, T, space> map(space{}, 1000, {.load = 0.9});
  auto const keys = unique_keys<Key>(1000);
  std::vector<T> values(keys.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  map.insert(space{}, to_space(keys), to_space(values));
  for (u64 const max_keys : {20000, 1500, 1000, 100000, 1100}) {
    map.rehash(space{}, max_keys);
    CHECK(map.max_keys() == max_keys);
    CHECK(map.capacity() >= max_keys);
    karpos_test::check_map_in_order("after a rehash", map, 1000);
    karpos_test::view<T> const out("out", keys.size());
    map.find(space{}, to_space(keys), out, T(7777));
    CHECK(karpos_test::to_host(out) == values);
  }
  auto moved = std::move(map);
  karpos_test::check_map_in_order("after a move", moved, 1000);
  moved.clear(space{});
  karpos_test::check_map_in_order("after clear", moved, 0);
}

TEST_CASE("hopscotch_map: a rehash, larger or smaller, keeps what is in") {
  rehashes_in_both_directions<u32, u32>();
  rehashes_in_both_directions<u64, u64>();
}

}  // namespace
