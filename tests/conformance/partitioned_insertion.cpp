// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "karpos/hash_map.hpp"
#include "karpos/hash_set.hpp"
#include "karpos/hopscotch_map.hpp"
#include "support/chance.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/memory_limit.hpp"
#include "support/places.hpp"
#include "support/space.hpp"

// Insertions by partitions of the table, compared with an oracle: with various types, and mixed
// with insertions key by key.

namespace {

using karpos::bulk_options;
using karpos::bulk_strategy;
using karpos::insert_report;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

bulk_options const partitioned{.strategy = bulk_strategy::partitioned};

/// Checks the contents of a map by lookups and by a scan.
template <class Map, class Key, class T>
void check_contents(Map const& map, std::map<Key, T> const& expected) {
  std::vector<Key> keys;
  for (auto const& [key, value] : expected) keys.push_back(key);
  view<T> const out("out", keys.size());
  map.find(space{}, to_space(keys), out, T(77));
  auto const found = to_host(out);
  u64 wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) wrong += !(found[i] == expected.at(keys[i]));
  CHECK(wrong == 0);
  CHECK(map.size(space{}) == expected.size());
  view<Key> const all_keys("keys", expected.size());
  view<T> const all_values("values", expected.size());
  CHECK(map.retrieve_all(space{}, all_keys, all_values) == expected.size());
  auto const k = to_host(all_keys);
  auto const v = to_host(all_values);
  std::map<Key, T> scanned;
  for (std::size_t i = 0; i < k.size(); ++i) scanned[k[i]] = v[i];
  CHECK(scanned == expected);
}

/// Checks that absent keys are not found.
template <class Map, class Key>
void check_absent(Map const& map, std::vector<Key> const& keys) {
  view<bool> const flags("flags", keys.size());
  map.contains(space{}, to_space(keys), flags);
  u64 present = 0;
  for (bool const f : to_host(flags)) present += f;
  CHECK(present == 0);
}

template <class T>
std::vector<T> numbered(std::size_t n, std::size_t from = 0) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(i + from);
  return values;
}

template <class Key, class T>
void inserts_as_one_by_one(u64 n, double load) {
  INFO("n = ", n, ", load = ", load, ", bytes ", sizeof(Key), " + ", sizeof(T));
  karpos::hash_map<Key, T, space> map(space{}, n + 10, {.load = load});
  auto keys = karpos_test::unique_keys<Key>(n + n / 2);
  std::vector<Key> const others(keys.begin() + static_cast<long>(n), keys.end());
  keys.resize(n);
  auto const values = numbered<T>(n);
  insert_report const first = map.insert(space{}, to_space(keys), to_space(values), partitioned);
  CHECK(first == insert_report{n, 0, 0, 0});
  std::map<Key, T> expected;
  for (u64 i = 0; i < n; ++i) expected[keys[i]] = values[i];
  check_contents(map, expected);
  check_absent(map, others);
  insert_report const again = map.insert(space{}, to_space(keys), T(3), partitioned);
  CHECK(again == insert_report{0, n, 0, 0});
  check_contents(map, expected);
}

TEST_CASE("tiny insertions, and none, by partitions") {
  for (u64 const n : {0, 1, 2, 4}) {
    inserts_as_one_by_one<u32, u32>(n, 0.8);
    inserts_as_one_by_one<u64, u64>(n, 0.8);
  }
}

TEST_CASE("insertions by partitions leave what insertions one by one leave") {
  for (double const load : {0.3, 0.8, 0.98}) {
    inserts_as_one_by_one<u32, u32>(30000, load);
    inserts_as_one_by_one<u64, u64>(20000, load);
    inserts_as_one_by_one<u32, double>(20000, load);
#if KARPOS_FULL_TESTS
    inserts_as_one_by_one<std::int64_t, float>(20000, load);
#endif
  }
#if KARPOS_FULL_TESTS
  inserts_as_one_by_one<u16, u16>(20000, 0.8);
#endif
  inserts_as_one_by_one<u32, u32>(karpos_test::rows_for_random_test(500'000), 0.9);
}

TEST_CASE("keys that no partition splits go direct") {
  karpos::hash_set<u16, space> set(space{}, 3000);
  auto const keys = karpos_test::unique_keys<u16>(3000);
  CHECK(set.insert_bytes(space{}, 3000, bulk_strategy::partitioned) == 0);
  CHECK(set.insert(space{}, to_space(keys), partitioned).inserted == 3000);
}

template <class Key, class T>
void combines(u64 n) {
  auto const keys = karpos_test::unique_keys<Key>(n / 8 + 1);
  auto const draws = karpos_test::skewed_draws(keys, n, 5);
  auto const values = numbered<T>(n, 1);
  std::map<Key, T> sums, largest;
  for (u64 i = 0; i < n; ++i) {
    sums[draws[i]] += values[i];
    T& most = largest[draws[i]];
    most = most < values[i] ? values[i] : most;
  }
  for (bool const holds_some : {false, true}) {
    karpos::hash_map<Key, T, space> sum(space{}, 2 * n), most(space{}, 2 * n);
    u64 before = 0;
    if (holds_some) {
      std::vector<Key> const some(keys.begin(), keys.begin() + static_cast<long>(keys.size() / 2));
      before = sum.insert(space{}, to_space(some), T(0)).inserted;
      most.insert(space{}, to_space(some), T(0));
    }
    auto expected = sums;
    auto expected_most = largest;
    if (holds_some)
      for (std::size_t i = 0; i < keys.size() / 2; ++i) {
        expected.try_emplace(keys[i], T(0));
        expected_most.try_emplace(keys[i], T(0));
      }
    insert_report const r = sum.insert_or_apply(space{}, to_space(draws), to_space(values),
                                                karpos::plus{}, partitioned);
    CHECK(r.inserted == expected.size() - before);
    CHECK(r.inserted + r.existing == n);
    check_contents(sum, expected);
    most.insert_or_apply(space{}, to_space(draws), to_space(values), karpos::maximum{},
                         partitioned);
    check_contents(most, expected_most);
  }
}

TEST_CASE("values of equal keys are combined on the way, in empty tables and in others") {
  for (u64 const n : {8, 1000, 100000}) {
    combines<u32, u32>(n);
#if KARPOS_FULL_TESTS
    combines<u64, u64>(n);
#endif
    combines<u32, double>(n);
  }
}

TEST_CASE("of equal keys one value wins") {
  u64 const n = 50000;
  auto const keys = karpos_test::unique_keys<u32>(n / 10);
  auto const draws = karpos_test::skewed_draws(keys, n, 9);
  auto const values = numbered<u32>(n);
  karpos::hash_map<u32, u32, space> map(space{}, n);
  map.insert(space{}, to_space(keys), u32(1000000));
  map.insert_or_assign(space{}, to_space(draws), to_space(values), partitioned);
  std::map<u32, std::map<u32, bool>> offered;
  for (u64 i = 0; i < n; ++i) offered[draws[i]][values[i]] = true;
  view<u32> const out("out", keys.size());
  map.find(space{}, to_space(keys), out, u32(7777777));
  auto const found = to_host(out);
  u64 wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const at = offered.find(keys[i]);
    wrong += at == offered.end() ? found[i] != 1000000 : at->second.count(found[i]) == 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("one key in all rows, and in half of them") {
  u64 const n = 400000;
  for (u64 const every : {1, 2}) {
    auto draws = karpos_test::unique_keys<u32>(n, 3);
    for (u64 i = 0; i < n; i += every) draws[i] = 42;
    std::map<u32, u32> counts;
    for (u32 const d : draws) ++counts[d];
    karpos::hash_map<u32, u32, space> map(space{}, n);
    insert_report const r =
        map.insert_or_apply(space{}, to_space(draws), u32(1), karpos::plus{}, partitioned);
    CHECK(r.inserted == counts.size());
    CHECK(r.inserted + r.existing == n);
    check_contents(map, counts);
  }
}

TEST_CASE("keys equal to a sentinel are refused, the others inserted") {
  auto keys = karpos_test::unique_keys<u32>(10000);
  keys[17] = ~u32(0);
  keys[9000] = ~u32(0) - 1;
  karpos::hash_map<u32, u32, space> map(space{}, 10000);
  CHECK_THROWS_AS(map.insert(space{}, to_space(keys), u32(1), partitioned), std::invalid_argument);
  CHECK(map.size(space{}) == 9998);
}

TEST_CASE("a full table rejects what does not fit, and a growing one takes it") {
  u64 const n = 60000;
  auto const keys = karpos_test::unique_keys<u32>(n);
  karpos::hash_map<u32, u32, space> small(space{}, n / 3, {.load = 0.98});
  insert_report const r = small.insert(space{}, to_space(keys), u32(1), partitioned);
  CHECK(r.inserted + r.rejected == n);
  CHECK(r.inserted >= n / 3);
  CHECK(r.inserted <= small.capacity());
  CHECK(small.size(space{}) == r.inserted);
  karpos::hash_map<u32, u32, space> grown(space{}, 100, {.growth = karpos::growth::automatic});
  CHECK(grown.insert(space{}, to_space(keys), to_space(numbered<u32>(n)), partitioned).inserted ==
        n);
  std::map<u32, u32> expected;
  for (u64 i = 0; i < n; ++i) expected[keys[i]] = static_cast<u32>(i);
  check_contents(grown, expected);
}

TEST_CASE("direct and partitioned insertions, erasures and lookups take turns") {
  u64 const n = 12000;
  karpos::hash_map<u64, u64, space> map(space{}, 8 * n, {.load = 0.9});
  auto const keys = karpos_test::unique_keys<u64>(8 * n);
  std::map<u64, u64> expected;
  for (u64 round = 0; round < 8; ++round) {
    auto const first = keys.begin() + static_cast<long>(round * n);
    std::vector<u64> const some(first, first + static_cast<long>(n));
    auto const values = numbered<u64>(n, round);
    bulk_options const how{.strategy =
                               round % 2 == 0 ? bulk_strategy::partitioned : bulk_strategy::direct};
    CHECK(map.insert(space{}, to_space(some), to_space(values), how).inserted == n);
    for (u64 i = 0; i < n; ++i) expected[some[i]] = values[i];
    std::vector<u64> gone;
    for (u64 i = round; i < n; i += 5) gone.push_back(some[i]);
    CHECK(map.erase(space{}, to_space(gone)) == gone.size());
    for (u64 const key : gone) expected.erase(key);
    check_contents(map, expected);
    check_absent(map, gone);
  }
}

template <class Key>
void fills_a_set(u64 n) {
  auto const keys = karpos_test::unique_keys<Key>(n);
  auto const draws = karpos_test::skewed_draws(keys, 3 * n, 2);
  std::map<Key, bool> different;
  for (Key const k : draws) different[k] = true;
  karpos::hash_set<Key, space> set(space{}, n);
  insert_report const r = set.insert(space{}, to_space(draws), partitioned);
  CHECK(r.inserted == different.size());
  CHECK(r.inserted + r.existing == 3 * n);
  view<bool> const flags("flags", n);
  set.contains(space{}, to_space(keys), flags);
  auto const found = to_host(flags);
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) wrong += found[i] != (different.count(keys[i]) != 0);
  CHECK(wrong == 0);
}

TEST_CASE("sets take keys by partitions") {
  fills_a_set<u32>(30000);
#if KARPOS_FULL_TESTS
  fills_a_set<u64>(30000);
#endif
}

/// A hash that gives every key the same value, or one of a few.
struct few_hashes {
  using is_avalanching = void;
  u64 mask;
  KOKKOS_FUNCTION u64 operator()(u32 const& key) const { return (key & mask) << 60; }
};
struct last_digits {
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return a % 1000 == b % 1000; }
};
struct by_last_digits {
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return karpos::mix(key % 1000); }
};

TEST_CASE("hash functions and equalities of the caller's") {
  auto const keys = karpos_test::unique_keys<u32>(3000);
  for (u64 const mask : {0, 3, 15}) {
    karpos::hash_map<u32, u32, space, few_hashes> map(space{}, 3000, {}, {mask});
    CHECK(map.insert(space{}, to_space(keys), u32(1), partitioned).inserted == 3000);
    CHECK(map.insert(space{}, to_space(keys), u32(1), partitioned).existing == 3000);
  }
  karpos::hash_map<u32, u32, space, by_last_digits, last_digits> map(space{}, 3000);
  auto const many = numbered<u32>(30000);
  insert_report const r =
      map.insert_or_apply(space{}, to_space(many), u32(1), karpos::plus{}, partitioned);
  CHECK(r == insert_report{1000, 29000, 0, 0});
  view<u32> const out("out", 30000);
  map.find(space{}, to_space(many), out, u32(0));
  u64 wrong = 0;
  for (u32 const count : to_host(out)) wrong += count != 30;
  CHECK(wrong == 0);
}

TEST_CASE("the workspace is the caller's, of the size that was asked for") {
  u64 const n = 20000;
  auto const keys = karpos_test::unique_keys<u32>(n);
  karpos::hash_map<u32, u32, space> map(space{}, n);
  CHECK(map.insert_bytes(space{}, n) == 0);  // a small table: inserts directly
  CHECK(map.insert_bytes(space{}, n, bulk_strategy::direct) == 0);
  std::size_t const bytes = map.insert_bytes(space{}, n, bulk_strategy::partitioned);
  CHECK(bytes >= (karpos::device::is_device<space> ? n * 8 : 0));
  Kokkos::View<std::byte*, space::memory_space> const memory("memory", bytes + 64);
  auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
  bulk_options how = partitioned;
  how.workspace = {memory.data() + (64 - address % 64) % 64, bytes};
  CHECK(map.insert(space{}, to_space(keys), u32(5), how).inserted == n);
  if (bytes > 0) {  // too small, or not aligned: not used
    how.workspace.bytes = bytes - 1;
    CHECK(map.insert(space{}, to_space(keys), u32(5), how).existing == n);
    how.workspace = {static_cast<std::byte*>(how.workspace.data) + 8, bytes};
    CHECK(map.insert(space{}, to_space(keys), u32(5), how).existing == n);
  }
  CHECK(map.insert(space{}, to_space(keys), u32(5)).existing == n);
  karpos::hash_map<u32, u32, space> const none;
  CHECK_THROWS_AS(none.insert_bytes(space{}, n), std::logic_error);
}

TEST_CASE("many rows are deferred") {
  u64 const n = 1'000'000;
  auto const keys = karpos_test::unique_keys<u32>(2 * n);
  std::vector<u32> const first(keys.begin(), keys.begin() + static_cast<long>(n));
  karpos::hash_map<u32, u32, space> map(space{}, n, {.load = 0.95});
  CHECK(map.insert(space{}, to_space(first), to_space(first), partitioned) ==
        insert_report{n, 0, 0, 0});
  karpos_test::view<u32> const out("values", 2 * n);
  map.find(space{}, to_space(keys), out, 0u);
  auto const found = karpos_test::to_host(out);
  u64 wrong = 0;
  for (u64 i = 0; i < 2 * n; ++i) wrong += found[i] != (i < n ? keys[i] : 0);
  CHECK(wrong == 0);
}

TEST_CASE("without memory for a workspace keys go in one by one") {
  if (Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible) {
    MESSAGE("skipped: tables of " KARPOS_TEST_SPACE_NAME
            " have no segments, or its memory is the host's");
    return;
  }
  u64 const n = 200'000;
  auto const keys = to_space(karpos_test::unique_keys<u32>(n));
  karpos::hash_map<u32, u32, space> map(space{}, n);
  auto const inserts_segments = [&] {
    karpos_test::listener const recorder;
    CHECK(map.insert(space{}, keys, u32(5), partitioned) == insert_report{n, 0, 0, 0});
    bool by_segments = false;
    for (auto const& launch : karpos_test::record.launches)
      by_segments = by_segments || launch.label.find(" by segments") != std::string::npos;
    return by_segments;
  };
  CHECK(inserts_segments());
  map.clear(space{});
  {
    karpos_test::no_memory_of_space const none(map.insert_bytes(space{}, n, partitioned.strategy) /
                                               4);
    CHECK(!inserts_segments());
  }
  map.clear(space{});
  CHECK(inserts_segments());
}

struct key_with_key {
  u32 key;
  bool operator==(key_with_key const&) const = default;
};
struct key_with_value {
  u64 value;
  bool operator==(key_with_value const&) const = default;
};
struct equal_members {
  KOKKOS_FUNCTION bool operator()(key_with_key a, key_with_key b) const { return a.key == b.key; }
  KOKKOS_FUNCTION bool operator()(key_with_value a, key_with_value b) const {
    return a.value == b.value;
  }
};
template <class Key>
void fills_a_set_of_structs() {
  std::vector<Key> keys;
  for (auto const k : karpos_test::unique_keys<u32>(5000)) keys.push_back({k});
  karpos::hash_set<Key, space, karpos::hash<Key>, equal_members> set(space{}, 5000);
  CHECK(set.insert(space{}, to_space(keys), partitioned).inserted == 5000);
  CHECK(set.insert(space{}, to_space(keys), partitioned).existing == 5000);
  CHECK(set.count(space{}, to_space(keys)) == 5000);
}

TEST_CASE("keys may have members named key and value") {
  fills_a_set_of_structs<key_with_key>();
  fills_a_set_of_structs<key_with_value>();
}

template <class Ref, class Keys>
struct insert_ones {
  Ref ref;
  Keys keys;
  KOKKOS_FUNCTION void operator()(int i) const { ref.insert(keys(i), 1u); }
};
template <class Ref, class Keys>
void insert_by_ref(Ref const& ref, Keys const& keys) {
  Kokkos::parallel_for("karpos_test::insert",
                       Kokkos::RangePolicy<space>(0, static_cast<int>(keys.extent(0))),
                       insert_ones<Ref, Keys>{ref, keys});
}

TEST_CASE("what the host has not seen is in the table all the same") {
  u64 const n = 20000;
  auto const keys = karpos_test::unique_keys<u32>(2 * n);
  std::vector<u32> const first(keys.begin(), keys.begin() + static_cast<long>(n));
  std::map<u32, u32> expected;
  for (u32 const key : keys) expected[key] = 2;
  for (u32 const key : first) expected[key] = 1;
  using map_type = karpos::hash_map<u32, u32, space>;
  for (int const how : {0, 1, 2}) {
    INFO("how: ", how);
    map_type map(space{}, 2 * n);
    auto const device_keys = to_space(first);
    if (how == 0) {
      map_type::report_view const report("report");
      map.insert_async(space{}, device_keys, u32(1), report);
    } else {
      auto const ref = map.ref();
      if (how == 2) map.clear(space{});
      insert_by_ref(ref, device_keys);
    }
    map_type moved = std::move(map);
    insert_report const r = moved.insert(space{}, to_space(keys), u32(2), partitioned);
    CHECK(r == insert_report{n, n, 0, 0});
    check_contents(moved, expected);
  }
}

/// A map for n keys whose hash puts every `each`-th key into the first of 64 parts of the table.
using crowded_map = karpos::hash_map<u32, u32, space, karpos_test::clustered_hash>;
crowded_map map_with_a_crowd(u64 n, double load, u32 each) {
  karpos_test::hash_of_place const hash(
      karpos::detail::hashed::open_addressing,
      karpos::hash_map<u32, u32, space>(space{}, n, {.load = load}).capacity());
  return crowded_map(space{}, n, {.load = load, .seed = 0}, {each, 64, hash});
}

TEST_CASE("partitions that are somewhat longer than others, and much longer") {
  u64 const n = 100000;
  auto keys = karpos_test::unique_keys<u32>(n + 1000);
  std::vector<u32> const others(keys.begin() + static_cast<long>(n), keys.end());
  keys.resize(n);
  std::map<u32, u32> expected;
  for (u64 i = 0; i < n; ++i) expected[keys[i]] = static_cast<u32>(i);
  for (u32 const each : {7, 60}) {
    INFO("every ", each, "th key");
    crowded_map map = map_with_a_crowd(n, 0.8, each);
    CHECK(map.insert(space{}, to_space(keys), to_space(numbered<u32>(n)), partitioned) ==
          insert_report{n, 0, 0, 0});
    check_contents(map, expected);
    check_absent(map, others);
    CHECK(map.insert(space{}, to_space(keys), u32(1), partitioned) == insert_report{0, n, 0, 0});
    check_contents(map, expected);
  }
}

TEST_CASE("a region that is too crowded: as many keys are found as are said to be inserted") {
  u64 const n = 400'000;
  auto const keys = karpos_test::unique_keys<u32>(n);
  for (auto const strategy : {bulk_strategy::direct, bulk_strategy::partitioned}) {
    crowded_map map = map_with_a_crowd(n, 0.95, 2);
    insert_report const r =
        map.insert(space{}, to_space(keys), to_space(keys), {.strategy = strategy});
    CHECK(r.inserted + r.rejected == n);
    CHECK(map.size(space{}) == r.inserted);
    view<u32> const out("values", n);
    map.find(space{}, to_space(keys), out, ~u32(0));
    auto const found = to_host(out);
    u64 there = 0, wrong = 0;
    for (u64 i = 0; i < n; ++i) {
      there += found[i] == keys[i];
      wrong += found[i] != keys[i] && found[i] != ~u32(0);
    }
    CHECK(there == r.inserted);
    CHECK(wrong == 0);
  }
}

/// Inserts keys in kernels through a ref, unknown to the host.
template <class Ref>
struct insert_through {
  Ref ref;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i) const { (void)ref.insert(keys(i), keys(i)); }
};

TEST_CASE("rehash and compaction by segments: slots one by one, with tombstones, and under a ref") {
  bool const by_segments = karpos::device::is_device<space>;  // tables of at least 128 MB
  u64 const n = by_segments ? 14'000'000 : 20'000;
  auto const keys = karpos_test::unique_keys<u32>(n + n / 4);
  auto const some = [&](u64 first, u64 last) {
    return to_space(std::vector<u32>(keys.begin() + static_cast<long>(first),
                                     keys.begin() + static_cast<long>(last)));
  };
  karpos::hash_map<u32, u32, space> map(space{}, n, {.load = 0.8});
  auto const check = [&](char const* what, u64 first, u64 last) {
    INFO(what);
    auto const all = some(0, keys.size());
    view<u32> const out("values", keys.size());
    map.find(space{}, all, out, ~u32(0));
    auto const found = to_host(out);
    u64 wrong = 0;
    for (u64 i = 0; i < keys.size(); ++i)
      wrong += found[i] != (first <= i && i < last ? keys[i] : ~u32(0));
    CHECK(wrong == 0);
    CHECK(map.size(space{}) == last - first);
  };
  map.insert(space{}, some(0, n), some(0, n), {.strategy = bulk_strategy::direct});
  map.rehash(space{}, n);
  check("rehashed", 0, n);
  CHECK(map.erase(space{}, some(0, n / 8)) == n / 8);
  map.compact(space{});
  CHECK(map.tombstones(space{}) == 0);
  check("compacted", n / 8, n);
  auto const ref = map.ref();
  map.compact(space{});
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(0, n / 8),
                       insert_through<std::decay_t<decltype(ref)>>{ref, some(n, n + n / 8)});
  check("compacted under a ref", n / 8, n + n / 8);
  map.rehash(space{}, 2 * n);
  check("rehashed to twice the size", n / 8, n + n / 8);
}

/// Looks up everything that is stored, half of what was erased, and keys that never were stored,
/// after each kind of change.
template <class Key, class T>
void lookups_between_changes(u64 n, double load) {
  INFO("n = ", n, ", load = ", load, ", bytes ", sizeof(Key), " + ", sizeof(T));
  using map_type = karpos::hash_map<Key, T, space>;
  auto const keys = karpos_test::unique_keys<Key>(2 * n);
  auto const some = [&](u64 first, u64 last) {
    return std::vector<Key>(keys.begin() + static_cast<long>(first),
                            keys.begin() + static_cast<long>(last));
  };
  auto const absent = some(n, 2 * n);
  std::map<Key, T> expected;
  map_type map(space{}, n, {.load = load});
  auto const add = [&](u64 first, u64 last, bulk_strategy strategy) {
    insert_report const r = map.insert(space{}, to_space(some(first, last)),
                                       to_space(numbered<T>(last - first)), {.strategy = strategy});
    CHECK(r.inserted == last - first);
    for (u64 i = first; i < last; ++i) expected[keys[i]] = static_cast<T>(i - first);
    check_contents(map, expected);
    check_absent(map, absent);
  };
  for (int round = 0; round < 2; ++round) {
    add(0, n / 2, bulk_strategy::partitioned);
    add(n / 2, n - n / 8, bulk_strategy::partitioned);
    auto const gone = some(0, n / 50);
    CHECK(map.erase(space{}, to_space(gone)) == gone.size());
    for (Key const key : gone) expected.erase(key);
    check_contents(map, expected);
    check_absent(map, gone);
    add(n - n / 8, n - n / 9, bulk_strategy::partitioned);
    map_type copy(space{}, 1);
    deep_copy(space{}, copy, map);
    check_contents(copy, expected);
    check_absent(copy, absent);
    add(n - n / 9, n - n / 10, bulk_strategy::direct);
    add(n - n / 10, n - n / 50, bulk_strategy::partitioned);
    map.clear(space{});
    expected.clear();
    check_absent(map, keys);
  }
  map_type const moved = std::move(map);
  check_absent(moved, keys);
}

TEST_CASE("lookups of keys that are in, were in and never were in, between changes of every kind") {
  for (double const load : {0.5, 0.9, 0.98}) {
    lookups_between_changes<u32, u32>(12000, load);
#if KARPOS_FULL_TESTS
    lookups_between_changes<u64, u64>(8000, load);
#endif
  }
}

TEST_CASE(
    "lookups see what kernels have inserted after an insertion by partitions, and before a clear") {
  u64 const n = 30000;
  auto const keys = karpos_test::unique_keys<u32>(3 * n);
  std::vector<u32> const first(keys.begin(), keys.begin() + static_cast<long>(n)),
      second(keys.begin() + static_cast<long>(n), keys.begin() + static_cast<long>(2 * n)),
      absent(keys.begin() + static_cast<long>(2 * n), keys.end());
  karpos::hash_map<u32, u32, space> map(space{}, 2 * n, {.load = 0.95});
  std::map<u32, u32> expected;
  map.insert(space{}, to_space(first), u32(1), partitioned);
  auto const ref = map.ref();
  insert_by_ref(ref, to_space(second));
  for (u64 i = 0; i < 2 * n; ++i) expected[keys[i]] = 1;
  check_contents(map, expected);
  check_absent(map, absent);
  map.clear(space{});
  map.insert(space{}, to_space(first), u32(1), partitioned);
  insert_by_ref(ref, to_space(second));
  check_contents(map, expected);
  check_absent(map, absent);
}

TEST_CASE("tables without segments insert directly, whatever the strategy") {
  auto const keys = karpos_test::unique_keys<u32>(2000);
  karpos::hopscotch_map<u32, u32, space> map(space{}, 2000);
  CHECK(map.insert_bytes(space{}, 2000, bulk_strategy::partitioned) == 0);
  CHECK(map.insert(space{}, to_space(keys), u32(1), partitioned).inserted == 2000);
}

TEST_CASE("keys and values with strides, and linear probing") {
  u64 const n = 5000;
  auto const keys = karpos_test::unique_keys<u32>(n);
  Kokkos::View<u32**, Kokkos::LayoutRight, space::memory_space> const table("table", n, 3);
  auto const host = Kokkos::create_mirror_view(table);
  for (u64 i = 0; i < n; ++i) {
    host(i, 0) = keys[i];
    host(i, 2) = static_cast<u32>(i);
  }
  Kokkos::deep_copy(table, host);
  karpos::hash_map<u32, u32, space, karpos::hash<u32>, karpos::equal_to<u32>,
                   karpos::linear_probing>
      map(space{}, n);
  CHECK(map.insert(space{}, Kokkos::subview(table, Kokkos::ALL, 0),
                   Kokkos::subview(table, Kokkos::ALL, 2), partitioned)
            .inserted == n);
  std::map<u32, u32> expected;
  for (u64 i = 0; i < n; ++i) expected[keys[i]] = static_cast<u32>(i);
  check_contents(map, expected);
}

}  // namespace

TEST_CASE("refused: a number that is no strategy") {
  karpos::hash_map<u32, u32, space> map(space{}, 10);
  auto const keys = karpos_test::to_space<u32>({1, 2, 3});
  bulk_options const none{.strategy = static_cast<bulk_strategy>(4)};
  auto const refused = [](auto const& f) {
    karpos_test::throws<std::invalid_argument>(f, "no such strategy", "number 4; valid are 0 to 3");
  };
  refused([&] { map.insert(space{}, keys, 1u, none); });
  refused([&] { map.insert_or_apply(space{}, keys, 1u, karpos::plus{}, none); });
  refused([&] { (void)map.insert_bytes(space{}, 3, none.strategy); });
  refused([&] { (void)map.insert_or_apply_bytes(space{}, 3, none.strategy); });
  CHECK(map.size(space{}) == 0);
}
