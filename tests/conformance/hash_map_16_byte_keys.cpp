// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of 9 to 16 bytes: slots of 32 bytes, and of 16 in sets.
#include <karpos/hash_set.hpp>
#include <limits>
#include <set>
#include <stdexcept>

#include "conformance/bulk_suite.hpp"
#include "conformance/ref_suite.hpp"
#include "support/uuid.hpp"

namespace karpos_test::keys_of_16_bytes {

/// Three words, which leave four bytes of a slot's key unused.
struct triple {
  std::uint32_t x, y, z;
};
struct pair_of_floats {
  float x, y;
  friend bool operator==(pair_of_floats a, pair_of_floats b) { return a.x == b.x && a.y == b.y; }
};

/// A hash and an equality that ignore the second half.
struct hash_of_first {
  KOKKOS_FUNCTION std::uint64_t operator()(uuid key) const { return key.first; }
};
struct equal_in_first {
  KOKKOS_FUNCTION bool operator()(uuid a, uuid b) const { return a.first == b.first; }
};

}  // namespace karpos_test::keys_of_16_bytes

namespace {

using namespace karpos_test::keys_of_16_bytes;
using karpos::insert_report;
using karpos::map_op;
using karpos::outcome;
using karpos::detail::int128;
using karpos::detail::uint128;
using karpos_test::check_map;
using karpos_test::same;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::uuid;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
constexpr u64 all_ones = ~u64(0);

/// Calls test(space) if the space under test takes such keys.
template <class Test>
void where_keys_are_taken(Test const& test) {
  if constexpr (karpos::device::has_wide_cas<karpos_test::space>)
    test(karpos_test::space{});
  else
    MESSAGE("skipped: no compare-and-swap of 16 bytes on " KARPOS_TEST_SPACE_NAME);
}

TEST_CASE("hash_map of 16-byte keys in kernels") {
  where_keys_are_taken([](auto) {
    check_map<uuid, u64, karpos::double_hashing, 1, 1>();
    check_map<uuid, u64, karpos::double_hashing, 2, 1>();
    check_map<uuid, float, karpos::linear_probing, 2, 2>();
#if KARPOS_FULL_TESTS
    check_map<uuid, u64, karpos::double_hashing, 1, 4>();
    check_map<uuid, u64, karpos::linear_probing, 8, 4>();
    check_map<uuid, double, karpos::double_hashing, 4, 1>();
    check_map<uuid, std::int16_t, karpos::double_hashing, 32, 32>();
#endif
  });
}

TEST_CASE("hash_map of 16-byte keys in bulk") {
  where_keys_are_taken([](auto exec) {
    using exec_space = decltype(exec);
    karpos_test::bulk_suite<karpos::hash_map<uuid, u64, exec_space>>("16-byte keys, u64").run();
#if KARPOS_FULL_TESTS
    karpos_test::bulk_suite<karpos::hash_map<uuid, float, exec_space>>("16-byte keys, float").run();
#endif
  });
}

/// Stores and erases each of these keys, and looks up those that are absent.
template <class Key, class T, class ExecSpace>
void stores(ExecSpace const& exec, std::vector<Key> const& keys, std::vector<Key> const& absent,
            T value, karpos::hash_table_options<Key> const& o = {}) {
  karpos::hash_map<Key, T, ExecSpace> map(exec, keys.size(), o);
  CHECK(bool(map.insert(exec, to_space(keys), value) == insert_report{keys.size(), 0, 0, 0}));
  view<T> const out("out", keys.size());
  map.find(exec, to_space(keys), out, T{});
  CHECK(bool(to_host(out) == std::vector<T>(keys.size(), value)));
  CHECK(map.count(exec, to_space(absent)) == 0);
  CHECK(map.erase(exec, to_space(keys)) == keys.size());
  CHECK(map.size(exec) == 0);
}
/// Stores these keys, and refuses the two that are sentinels.
template <class Key, class ExecSpace>
void reserves(ExecSpace const& exec, Key const& empty, Key const& erased,
              std::vector<Key> const& keys, karpos::hash_table_options<Key> const& o = {}) {
  stores<Key, u64>(exec, keys, {}, 7, o);
  karpos::hash_map<Key, u64, ExecSpace> map(exec, 10, o);
  karpos_test::throws<std::invalid_argument>(
      [&] {
        map.insert(exec, to_space(std::vector<Key>{empty, keys[0], erased}), u64(1));
      },
      "sentinel", "2 of 3");
  view<u64> const out("out", 2);
  map.find(exec, to_space(std::vector<Key>{empty, erased}), out, u64(5));
  CHECK(to_host(out) == std::vector<u64>{5, 5});
}

TEST_CASE("integers of 16 bytes, and structures of 9 to 16, are keys") {
  where_keys_are_taken([](auto exec) {
    uint128 const high = uint128(1) << 64;
    stores<uint128, u32>(exec, {0, 1, 2, high, 2 * high, high + 1}, {3, 2 * high + 1, high + 2},
                         7u);
    stores<int128, double>(exec, {-1, -2, 0, int128(high)}, {1, -3}, 2.5);
    stores<triple, std::uint8_t>(exec, {{1, 2, 3}, {3, 2, 1}, {~0u, ~0u, ~0u}},
                                 {{1, 2, 4}, {0, 2, 3}}, 9);
    stores<uuid, pair_of_floats>(exec, {{1, 2}, {2, 1}, {1, 1}}, {{2, 2}}, {1, 2});
  });
}

TEST_CASE("two keys of 16 bytes are sentinels, and can be chosen") {
  where_keys_are_taken([](auto exec) {
    using exec_space = decltype(exec);
    uint128 const largest = ~uint128(0);
    reserves<uint128>(exec, largest, largest - 1, {largest - 2, all_ones, largest << 64});
    int128 const largest_signed = static_cast<int128>(largest >> 1);
    reserves<int128>(exec, largest_signed, largest_signed - 1, {largest_signed - 2, -1, -2});
    // Keys that share a half with a sentinel are none.
    std::vector<uuid> const keys{{all_ones, 0}, {0, all_ones}, {all_ones - 2, all_ones}};
    reserves<uuid>(exec, {all_ones, all_ones}, {all_ones - 1, all_ones}, keys);
    karpos::hash_table_options<uuid> o;
    o.empty_key = uuid{0, 0};
    o.erased_key = uuid{0, 1};
    reserves<uuid>(exec, {0, 0}, {0, 1}, {{all_ones, all_ones}, {1, 0}, {0, 2}, {1, 1}}, o);
    o.empty_key = o.erased_key;
    using map = karpos::hash_map<uuid, u64, exec_space>;
    karpos_test::throws<std::invalid_argument>([&] { map(exec, 10, o); }, "empty_key",
                                               "erased_key");
  });
}

TEST_CASE("a full table of 16-byte keys keeps what it has, and grows if asked") {
  where_keys_are_taken([](auto exec) {
    using exec_space = decltype(exec);
    karpos::hash_map<uuid, u64, exec_space> map(exec, 500);
    u64 const slots = map.capacity();
    auto const keys = unique_keys<uuid>(3 * slots);
    CHECK(bool(map.insert(exec, to_space(keys), u64(5)) == insert_report{slots, 0, 2 * slots, 0}));
    CHECK(map.count(exec, to_space(keys)) == slots);

    karpos::hash_map<uuid, u32, exec_space> growing(exec, 10,
                                                    {.growth = karpos::growth::automatic});
    CHECK(growing.insert(exec, to_space(keys), 1u).inserted == keys.size());
    CHECK(growing.insert_or_apply(exec, to_space(keys), 2u, karpos::plus{}).existing ==
          keys.size());
    auto on_host = create_host_mirror(exec, growing);
    u64 wrong = 0;
    for (uuid const& key : keys) wrong += on_host.ref().find(key).value_or(0u) != 3;
    CHECK(wrong == 0);
  });
}

TEST_CASE("mixed operations on 16-byte keys") {
  where_keys_are_taken([](auto exec) {
    using exec_space = decltype(exec);
    karpos::hash_map<uuid, u64, exec_space> map(exec, 3000);
    auto const keys = unique_keys<uuid>(3000);
    map.insert(exec, to_space(karpos_test::to_host(to_space(keys), 2000)), u64(4));
    std::vector<karpos::map_operation<uuid, u64>> operations;
    for (std::size_t i = 0; i < keys.size(); ++i)
      operations.push_back({i % 3 == 0   ? map_op::insert
                            : i % 3 == 1 ? map_op::erase
                                         : map_op::find,
                            keys[i], i});
    view<karpos::map_result<u64>> const results("results", keys.size());
    map.apply(exec, to_space(operations), results);
    auto const answers = to_host(results);
    u64 wrong = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      bool const there = i < 2000;
      outcome const expected = i % 3 == 0   ? there ? outcome::existing : outcome::inserted
                               : i % 3 == 1 ? there ? outcome::erased : outcome::absent
                               : there      ? outcome::found
                                            : outcome::absent;
      wrong += answers[i].outcome != expected || (i % 3 == 2 && there && answers[i].value != 4);
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("an equality of the user's decides which keys of 16 bytes are equal") {
  where_keys_are_taken([](auto exec) {
    using exec_space = decltype(exec);
    karpos::hash_map<uuid, u32, exec_space, hash_of_first, equal_in_first> map(exec, 100);
    std::vector<uuid> keys;
    for (u64 i = 0; i < 1000; ++i) keys.push_back({i % 100, i});
    CHECK(bool(map.insert_or_apply(exec, to_space(keys), 1u, karpos::plus{}) ==
               insert_report{100, 900, 0, 0}));
    view<u32> const out("out", keys.size());
    map.find(exec, to_space(keys), out, 0u);
    CHECK(to_host(out) == std::vector<u32>(keys.size(), 10u));
  });
}

TEST_CASE("hash_set of 16-byte keys") {
  where_keys_are_taken([](auto exec) {
    using exec_space = decltype(exec);
    karpos::hash_set<uuid, exec_space> set(exec, 4000);
    static_assert(sizeof(typename karpos::hash_set<uuid, exec_space>::key_type) == 16);
    CHECK(karpos::hash_set<uuid, exec_space>::bytes_for(1 << 20) < (std::size_t(1) << 20) * 22);
    auto const keys = unique_keys<uuid>(3000);
    karpos_test::random_numbers random(3);
    std::set<uuid> expected;
    for (int round = 0; round < 6; ++round) {
      std::vector<uuid> some(1000);
      for (uuid& key : some) key = keys[random.below(keys.size())];
      std::size_t const before = expected.size();
      if (round % 3 == 2) {
        for (uuid const& key : some) expected.erase(key);
        CHECK(set.erase(exec, to_space(some)) == before - expected.size());
      } else {
        expected.insert(some.begin(), some.end());
        CHECK(set.insert(exec, to_space(some)).inserted == expected.size() - before);
      }
      view<bool> const flags("flags", keys.size());
      set.contains(exec, to_space(keys), flags);
      auto const there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
      u64 wrong = 0;
      for (std::size_t i = 0; i < keys.size(); ++i) wrong += there(i) != expected.contains(keys[i]);
      CHECK(wrong == 0);
      CHECK(set.size(exec) == expected.size());
    }
  });
}

}  // namespace
