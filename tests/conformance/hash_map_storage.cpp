// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory of a hash_map: the caller's memory, other spaces, sizes beyond 32 bits.
#include "conformance/storage_suite.hpp"

#include <karpos/cuckoo_map.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/hopscotch_map.hpp>
#include <type_traits>

namespace {

/// Tables are moved, but never copied silently: deep_copy makes the cost visible.
template <class Map>
inline constexpr bool is_move_only =
    std::is_move_constructible_v<Map> && std::is_move_assignable_v<Map> &&
    !std::is_copy_constructible_v<Map> && !std::is_copy_assignable_v<Map>;
static_assert(is_move_only<karpos::hash_map<int, int, karpos_test::space>>);
static_assert(is_move_only<karpos::hash_set<int, karpos_test::space>>);
static_assert(is_move_only<karpos::hopscotch_map<int, int, karpos_test::space>>);
static_assert(is_move_only<karpos::cuckoo_map<int, int, karpos_test::space>>);

using karpos_test::space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct default_maps_in {
  template <class Key, class T, class Space>
  using map = karpos::hash_map<Key, T, Space>;
};
struct maps_in {
  template <class Key, class T, class Space>
  using map = karpos::hash_map<Key, T, Space, karpos::hash<Key>, karpos::equal_to<Key>,
                               karpos::double_hashing, 4>;
};

TEST_CASE("a map over memory of the user's") {
  karpos_test::lives_in_memory_of_the_users<default_maps_in, u32, u32>();
#if KARPOS_FULL_TESTS
  karpos_test::lives_in_memory_of_the_users<default_maps_in, u64, u64>();
#endif
}
TEST_CASE("a map: refs find what deep_copy brings") {
  karpos_test::refs_outlive_deep_copies<default_maps_in, u32, u32>();
}
TEST_CASE("deep_copy between the space under test and the host") {
  karpos_test::copies_between_spaces<maps_in, u32, u32>();
#if KARPOS_FULL_TESTS
  karpos_test::copies_between_spaces<maps_in, u64, u64>();
#endif
}
TEST_CASE("a frozen ref finds what is there") {
#if KARPOS_FULL_TESTS
  karpos_test::frozen_refs_find<maps_in, u32, u32, 1>();
#endif
  karpos_test::frozen_refs_find<maps_in, u32, u32, 4>();
#if KARPOS_FULL_TESTS
  karpos_test::frozen_refs_find<maps_in, u64, u64, 1>();
#endif
  karpos_test::frozen_refs_find<maps_in, u64, u64, 2>();
}

TEST_CASE("sizes beyond 32 bits are computed, not cut") {
  using small = karpos::hash_map<u32, u32, space>;
  using large = karpos::hash_map<u64, u64, space>;
  for (int exponent : {20, 31, 32, 33, 36, 40}) {
    u64 const keys = u64(1) << exponent;
    for (double load : {0.5, 0.8, 0.98}) {
      double const slots = static_cast<double>(keys) / load;
      double const bytes = static_cast<double>(small::bytes_for(keys, load));
      CHECK(bytes >= 8 * slots);
      CHECK(bytes <= 8 * slots * 1.07 + 4096);  // marks, and the distance to the next prime
      double const large_bytes = static_cast<double>(large::bytes_for(keys, load));
      CHECK(large_bytes >= 16 * slots);
      CHECK(large_bytes <= 16 * slots * 1.07 + 4096);
    }
  }
  CHECK(small::bytes_for(0) > 0);
}

}  // namespace
