// SPDX-License-Identifier: Apache-2.0
/// \file
/// A user's hash functions: families whose first members are bad, plain functions, and useless
/// functions.
#include <chrono>
#include <karpos/detail/tables/cuckoo/geometry.hpp>
#include <karpos/detail/tables/cuckoo/plan.hpp>

#include "support/cuckoo.hpp"

namespace {

using karpos_test::both_layouts;
using karpos_test::check_contents;
using karpos_test::check_empty_and_usable;
using karpos_test::name_of;
using karpos_test::numbered_values;
using karpos_test::oracle_of;
using karpos_test::slice;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Hash>
using map_of = karpos::cuckoo_map<u32, u32, space, Hash>;
constexpr u64 seeds = 17;

/// The seeds that tables of either layout for n keys, or for `fewer` keys, try in order.
struct tried_seeds {
  static constexpr int tables = 4;
  u64 before_first[tables];
  tried_seeds(u64 chosen, u64 keys, u64 fewer = 1) {
    using shape = karpos::detail::cuckoo::table_shape<u64>;
    u64* to = before_first;
    for (u64 const n : {keys, fewer})
      for (auto const layout : both_layouts) {
        auto const slots = shape::of(n, 0, karpos::cuckoo_map_options<u32>{.layout = layout}).slots;
        *to++ = karpos::mix(chosen) + karpos::detail::place_multiplier(
                                          karpos::detail::hashed::cuckoo,
                                          2 * slots + (layout == karpos::cuckoo_layout::dense));
      }
  }
  /// Returns whether the seed is one of the first n.
  KOKKOS_FUNCTION bool among_first(int n, u64 s) const {
    bool is = false;
    for (int t = 0; t < tables; ++t)
      for (int i = 0; i < n; ++i) is |= karpos::mix(before_first[t] + static_cast<u64>(i)) == s;
    return is;
  }
};

constexpr u32 first_colliding = 1u << 20;
constexpr u64 one_place = 0x1234'5678'9abc'def0u;

/// A family in which all large keys have one hash, whatever the seed.
struct colliding_family {
  KOKKOS_FUNCTION u64 operator()(u32 key, u64 seed) const {
    return key >= first_colliding ? one_place : karpos::mix(key + seed);
  }
};
/// A plain function: the library mixes in the seed.
struct colliding_function {
  KOKKOS_FUNCTION u64 operator()(u32 key) const {
    return key >= first_colliding ? 0 : karpos::mix(key);
  }
};
struct plain_identity {
  KOKKOS_FUNCTION u32 operator()(u32 key) const { return key; }
};

std::vector<u32> colliding_keys(u32 n) {
  std::vector<u32> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = first_colliding + 3 * i;
  return keys;
}

/// Checks that f throws a hash_error about n keys, and soon.
template <class F>
void finds_no_place(std::size_t n, F const& f) {
  auto const start = std::chrono::steady_clock::now();
  throws<karpos::hash_error>(f, "karpos::cuckoo_map", std::to_string(n) + " keys", "17 seeds",
                             "hash");
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  CHECK(took.count() < 10);
}

template <class Hash>
void ends_when_keys_collide() {
  for (auto const layout : both_layouts) {
    std::vector<u32> const good{1, 2, 3};
    map_of<Hash> map(space{}, to_space(good), to_space(numbered_values<u32>(3)),
                     {.layout = layout});
    for (u32 n : {2u, 3u}) {  // a hash has three places
      auto const keys = colliding_keys(n);
      auto const values = numbered_values<u32>(n);
      map.build(space{}, to_space(keys), to_space(values));
      check_contents(name_of(layout), map, oracle_of(keys, values), colliding_keys(10));
      CHECK(map.stats(space{}).restarts == 0);
    }
    for (u32 n : {25u, 600u, 5000u, 50000u}) {
      auto const keys = to_space(colliding_keys(n));
      auto const values = to_space(numbered_values<u32>(n));
      finds_no_place(n, [&] { map.build(space{}, keys, values); });
      check_empty_and_usable(name_of(layout) + ", after " + std::to_string(n) + " keys collided",
                             map);
      finds_no_place(n, [&] { map_of<Hash>(space{}, keys, values, {.layout = layout}); });
    }
  }
}

TEST_CASE("cuckoo_map: where no seed helps there is an end to it") {
  ends_when_keys_collide<colliding_family>();
  ends_when_keys_collide<colliding_function>();
}

TEST_CASE("cuckoo_map: duplicates and collisions together end too") {
  for (auto const layout : both_layouts) {
    auto keys = colliding_keys(1000);
    keys.insert(keys.end(), 3000, keys[500]);
    finds_no_place(1000, [&] {
      map_of<colliding_family>(space{}, to_space(keys), to_space(numbered_values<u32>(4000)),
                               {.layout = layout});
    });
  }
}

TEST_CASE("cuckoo_map: a plain hash function makes a family") {
  for (auto const layout : both_layouts) {
    std::vector<u32> keys(100000), queries(120000);
    for (u32 i = 0; i < queries.size(); ++i) queries[i] = 4 * i;
    keys = slice(queries, 0, keys.size());
    auto const values = numbered_values<u32>(keys.size());
    for (u64 seed : {1, 2}) {
      map_of<plain_identity> const map(space{}, to_space(keys), to_space(values),
                                       {.layout = layout, .seed = seed});
      check_contents(name_of(layout), map, oracle_of(keys, values), queries);
    }
  }
}

/// A family in which all keys have one hash under the first seeds.
struct late_family {
  tried_seeds tried;
  int bad;
  KOKKOS_FUNCTION u64 operator()(u32 key, u64 seed) const {
    return tried.among_first(bad, seed) ? one_place : karpos::mix(key + seed);
  }
};

template <class Hash>
void restarts(Hash const& hash, std::vector<u32> const& keys, u64 seed, u64 expected) {
  auto const values = numbered_values<u32>(keys.size());
  for (auto const layout : both_layouts) {
    INFO(name_of(layout), ", ", keys.size(), " keys");
    map_of<Hash> map(space{}, to_space(keys), to_space(values), {.layout = layout, .seed = seed},
                     hash);
    CHECK(map.stats(space{}).restarts == expected);
    auto queries = unique_keys<u32>(1000, 2);
    queries.insert(queries.end(), keys.begin(), keys.end());
    check_contents(name_of(layout), map, oracle_of(keys, values), queries);
    map.build(space{}, to_space(keys), to_space(values));
    CHECK(map.stats(space{}).restarts == expected);
  }
}

TEST_CASE("cuckoo_map: restarts are counted: as many as there are bad seeds") {
#if KARPOS_FULL_TESTS
  std::vector<std::size_t> const sizes{600, 5000, 50000};
#else
  std::vector<std::size_t> const sizes{600, 5000};
#endif
  for (int bad : {0, 1, 2, 7, 16})
    for (std::size_t const n : sizes)
      for (u64 seed : {1, 99})
        restarts(late_family{tried_seeds(seed, n), bad}, unique_keys<u32>(n), seed,
                 static_cast<u64>(bad));
  for (auto const layout : both_layouts)
    finds_no_place(600, [&] {
      map_of<late_family>(space{}, to_space(unique_keys<u32>(600)),
                          to_space(numbered_values<u32>(600)), {.layout = layout, .seed = 1},
                          late_family{tried_seeds(1, 600), 17});
    });
}

TEST_CASE("cuckoo_map: restarts with duplicates, and the first of them counts") {
  late_family const hash{tried_seeds(1, 6000, 4000), 3};
  auto keys = unique_keys<u32>(4000);
  keys.insert(keys.end(), keys.begin(), keys.begin() + 2000);
  auto const values = numbered_values<u32>(keys.size());
  for (auto const layout : both_layouts) {
    map_of<late_family> const map(space{}, to_space(keys), to_space(values),
                                  {.layout = layout, .seed = 1}, hash);
    CHECK(map.stats(space{}).restarts == 3);
    check_contents(name_of(layout), map, oracle_of(keys, values), unique_keys<u32>(8000));
  }
}

/// A family whose first seed puts the keys below `crowd` into one group, and has no other fault.
struct crowding_family {
  using is_avalanching = std::true_type;
  tried_seeds tried;
  u32 crowd;
  KOKKOS_FUNCTION u64 operator()(u32 key, u64 seed) const {
    u64 const hash = karpos::mix(key + seed);
    return key < crowd && tried.among_first(1, seed) ? u64(0x0600) << 48 | hash >> 16 : hash;
  }
};

TEST_CASE("cuckoo_map: a bucket with too many keys is built with another seed") {
  for (u32 n : {700u, 2000u, 100000u}) {
    std::vector<u32> keys(n);
    for (u32 i = 0; i < n; ++i) keys[i] = i;
    auto const values = numbered_values<u32>(n);
    map_of<crowding_family> const map(space{}, to_space(keys), to_space(values), {.seed = 1},
                                      crowding_family{tried_seeds(1, n), 600});
    auto const stats = map.stats(space{});
    CHECK(stats.restarts == 1);
    CHECK(stats.largest_group <= 512);
    check_contents(std::to_string(n) + " keys", map, oracle_of(keys, values), keys);
  }
}

TEST_CASE("cuckoo_map: buckets choose other constants, and their keys are found") {
  auto const all = unique_keys<u32>(200000);
  auto const keys = slice(all, 0, 100000);
  auto const values = numbered_values<u32>(keys.size());
  u64 group_restarts = 0;
  for (u64 seed = 0; seed < 5; ++seed) {
    karpos::cuckoo_map<u32, u32, space> const map(space{}, to_space(keys), to_space(values),
                                                  {.seed = seed});
    group_restarts += map.stats(space{}).group_restarts;
    check_contents("seed " + std::to_string(seed), map, oracle_of(keys, values), all);
  }
  CHECK(group_restarts > 0);
}

}  // namespace
