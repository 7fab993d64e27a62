// SPDX-License-Identifier: Apache-2.0
/// \file
/// The number of slots that a cuckoo map uses for its keys; its statistics add up.
#include <karpos/device/word16.hpp>

#include "support/cuckoo.hpp"

namespace {

using karpos_test::check_answers;
using karpos_test::check_contents;
using karpos_test::name_of;
using karpos_test::numbered_values;
using karpos_test::oracle_of;
using karpos_test::slice;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using karpos::cuckoo_layout;

template <class Map>
karpos::cuckoo_stats stats_that_add_up(Map const& map, u64 n) {
  auto const s = map.stats(space{});
  constexpr std::size_t word = sizeof(typename Map::key_type) > 4 ? 16 : 8;
  CHECK(s.keys == n);
  CHECK(s.groups >= 1);
  CHECK(s.slots % s.groups == 0);
  CHECK(s.slots >= n);
  CHECK(s.smallest_group <= s.largest_group);
  CHECK(s.smallest_group * s.groups <= n);
  CHECK(s.largest_group * s.groups >= n);
  CHECK(s.largest_group <= s.slots / s.groups);
  CHECK(s.space_factor ==
        doctest::Approx(static_cast<double>(s.slots) / static_cast<double>(n)).epsilon(1e-12));
  CHECK(s.restarts == 0);
  CHECK(map.bytes() >= s.slots * word);
  CHECK(map.bytes() <= s.slots * word * 102 / 100 + 64);  // plus metadata
  return s;
}

template <class Key, class T>
void check_two_level_space(std::size_t n) {
  auto const keys = to_space(unique_keys<Key>(n));
  auto const values = to_space(numbered_values<T>(n));
  for (u64 seed : {1, 2, 3}) {
    INFO(n, " keys, seed ", seed);
    karpos::cuckoo_map<Key, T, space> const map(space{}, keys, values, {.seed = seed});
    auto const s = stats_that_add_up(map, n);
    CHECK(s.slots == 576 * s.groups);
    CHECK(s.space_factor > 1.40);
    CHECK(s.space_factor <= 1.42);
    CHECK(s.largest_group <= 512);
    CHECK(s.smallest_group > 300);
    CHECK(s.group_restarts < s.groups);
  }
}

TEST_CASE("cuckoo_map: two levels take 1.42 slots for a key") {
  for (std::size_t n : {100000u, 123457u, 1000000u}) {
    check_two_level_space<u32, u32>(n);
    check_two_level_space<u64, u64>(n);
  }
}

/// Builds a dense map of n keys at a load. Its space factor must fit the load, and every key is
/// found.
template <class Key, class T>
void check_dense_space(std::size_t n, double load) {
  auto const all = unique_keys<Key>(n + n / 2);
  auto const keys = slice(all, 0, n);
  auto const values = numbered_values<T>(n);
  karpos::cuckoo_map<Key, T, space> const map(space{}, to_space(keys), to_space(values),
                                              {.layout = cuckoo_layout::dense, .load = load});
  std::string const what = std::to_string(n) + " keys, load " + std::to_string(load);
  INFO(what);
  auto const s = stats_that_add_up(map, n);
  CHECK(s.group_restarts == 0);
  CHECK(s.space_factor >= 1 / load);
  CHECK(s.space_factor <= 1 / load + 0.002 + 16.0 / static_cast<double>(n));
  check_answers(what, map, oracle_of(keys, values), all);
}

#if KARPOS_FULL_TESTS
constexpr std::size_t sizes_of_u64[] = {10000, 100000, 1000000};
#else
constexpr std::size_t sizes_of_u64[] = {10000, 100000};
#endif

TEST_CASE("cuckoo_map<u32, u32>: the dense layout reaches its load, and finds every key") {
  for (double load : {0.5, 0.95, 0.98})
    for (std::size_t n : {10000u, 100000u, 1000000u}) check_dense_space<u32, u32>(n, load);
}
TEST_CASE("cuckoo_map<u64, u64>: the dense layout reaches its load, and finds every key") {
  for (double load : {0.95, 0.98})
    for (std::size_t n : sizes_of_u64) check_dense_space<u64, u64>(n, load);
}

TEST_CASE("cuckoo_map: a capacity reserves slots for more keys, and for no fewer") {
  auto const keys = unique_keys<u32>(5000);
  auto const values = numbered_values<u32>(5000);
  using map_type = karpos::cuckoo_map<u32, u32, space>;
  for (u64 capacity : {0, 10, 5000, 5001, 100000}) {
    map_type::options const o{.layout = cuckoo_layout::dense, .load = 0.9, .capacity = capacity};
    map_type const map(space{}, to_space(keys), to_space(values), o);
    CHECK(map.bytes() == map_type::bytes_for(5000, o));
    u64 const expected = capacity < 5000 ? 5000 : capacity;
    auto const slots = static_cast<double>(stats_that_add_up(map, 5000).slots);
    CHECK(slots * 0.9 >= static_cast<double>(expected));
    CHECK(slots * 0.9 <= static_cast<double>(expected) + 20);
    check_contents("capacity " + std::to_string(capacity), map, oracle_of(keys, values), keys);
  }
}

}  // namespace
