// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bulk operations by regions of a table, lookups and changes, do what single operations do: tables
/// of all loads, rare and frequent keys, several batches, sentinels, memory that is short. On GPUs,
/// and on a device that a CPU emulates: there steps are tested as such. Calls of a table choose by
/// its own space: on CPUs all strategies are direct, so cases that name strategies, and those of
/// lookup_bytes, prove nothing about regions unless they run on a GPU.
#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "karpos/cuckoo_map.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/detail/tables/region_tally.hpp"
#include "karpos/hash_map.hpp"
#include "karpos/hash_multimap.hpp"
#include "karpos/hash_multiset.hpp"
#include "karpos/hash_set.hpp"
#include "karpos/hopscotch_map.hpp"
#include "karpos/unordered_map.hpp"
#include "support/check.hpp"
#include "support/emulated_lookup.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::bulk_strategy;
using karpos::detail::table_regions;
using karpos_test::same;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using table_space = karpos_test::space;
inline constexpr bool on_device = karpos::device::is_device<table_space>;
using tested_space = std::conditional_t<on_device, table_space, karpos_test::emulated_space>;
template <class X>
using view = Kokkos::View<X*, table_space::memory_space>;

/// A map that shows its table.
template <class Map>
struct open_map : Map {
  using Map::Map;
  template <class F>
  void with_table(F const& f) const {
    this->Map::lookup_table::m_storage.with_ref(f);
  }
  /// Calls f with the table that a kernel changes.
  template <class F>
  void with_changed_table(F const& f) const {
    this->Map::lookup_table::m_storage.with_erasure_ref(table_space{}, this->capacity(), f);
  }
};

/// Looks queries up as planned. Returns what is written for each.
template <class Map, class Key, class Write, class Result>
std::vector<Result> by_partitions(Map const& map, view<Key> const& queries, Write const& write,
                                  Result const& before, table_regions const& plan) {
  tested_space const exec{};
  view<Result> const out("out", queries.extent(0));
  Kokkos::deep_copy(out, before);
  map.with_table([&](auto const& table) {
    karpos::detail::partitioned_lookup<tested_space, std::decay_t<decltype(table)>, view<Key>,
                                       view<Result>, Write> const lookup(exec, "look up", table,
                                                                         write, plan);
    view<std::byte> const memory("memory", lookup.bytes(queries));
    lookup.run(queries, out, memory.data());
    exec.fence();
  });
  return to_host(out);
}

/// Queries for a map that holds `stored`: all of them, as many that are absent, sentinels, and one
/// key `frequent` times, in random order.
template <class Key>
std::vector<Key> make_queries(std::vector<Key> const& stored, std::vector<Key> const& absent,
                              u64 frequent) {
  std::vector<Key> queries(stored);
  queries.insert(queries.end(), absent.begin(), absent.end());
  queries.push_back(Key(-1));
  queries.push_back(Key(-2));
  if (!stored.empty()) queries.insert(queries.end(), frequent, stored[stored.size() / 2]);
  karpos_test::random_numbers random(queries.size());
  for (u64 i = queries.size(); i > 1; --i) std::swap(queries[i - 1], queries[random.below(i)]);
  return queries;
}

/// Makes a map of these pairs.
template <class Map, class Keys, class Values>
open_map<Map> make(Keys const& keys, Values const& values, double load) {
  if constexpr (!std::is_constructible_v<Map, table_space, u64>) {
    return open_map<Map>(table_space{}, keys, values);
  } else {
    open_map<Map> map(table_space{}, keys.extent(0), {.load = load});
    map.insert(table_space{}, keys, values);
    return map;
  }
}

template <class Map>
void answers_as_single_lookups(u64 keys, double load, table_regions const& plan, u64 frequent) {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  INFO(keys, " keys of ", sizeof(Key), " bytes, load ", load, ", ", plan.regions, " regions, ",
       plan.batch, " queries at once, one key ", frequent, " times");
  auto const all = unique_keys<Key>(2 * keys, 7);
  std::vector<Key> const stored(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keys)),
      absent(all.begin() + static_cast<std::ptrdiff_t>(keys), all.end());
  std::vector<T> values(keys);
  for (u64 i = 0; i < keys; ++i) values[i] = static_cast<T>(i + 1);
  auto const map = make<Map>(to_space(stored), to_space(values), load);
  auto const queries = to_space(make_queries(stored, absent, frequent));

  view<T> const found("found", queries.extent(0));
  view<bool> const present("present", queries.extent(0));
  constexpr karpos::bulk_options direct{.strategy = bulk_strategy::direct};
  map.find(table_space{}, queries, found, T(0), direct);
  map.contains(table_space{}, queries, present, direct);
  auto const expected = to_host(found);
  same("hits",
       static_cast<u64>(
           std::count_if(expected.begin(), expected.end(), [](T x) { return x != T(0); })),
       keys + (keys == 0 ? 0 : frequent));
  CHECK(by_partitions(map, queries, karpos::detail::value_or<T>{T(0)}, T(99), plan) == expected);
  CHECK(by_partitions(map, queries, karpos::detail::presence{}, false, plan) == to_host(present));
}
using small_map = karpos::hash_map<u32, u32, table_space>;
using large_map = karpos::hash_map<u64, u64, table_space>;

TEST_CASE("lookups by partitions answer as single lookups") {
  for (u64 const keys : {0, 1, 2, 30, 1000, 20'000})
    for (double const load : {0.5, 0.8, 0.95})
      for (u32 const regions : {1, 5, 256}) {
        table_regions const plan{regions, 2 * keys + 2};
        answers_as_single_lookups<small_map>(keys, load, plan, 0);
        if (load < 0.9) answers_as_single_lookups<large_map>(keys, load, plan, 0);
      }
  table_regions const plan{16, 40'002};
  answers_as_single_lookups<karpos::hash_map<u32, u64, table_space>>(20'000, 0.8, plan, 0);
}
TEST_CASE("hopscotch and cuckoo tables are looked up by partitions, too") {
  for (u64 const keys : {1, 30, 20'000}) {
    table_regions const plan{16, 2 * keys + 2};
    answers_as_single_lookups<karpos::hopscotch_map<u32, u32, table_space>>(keys, 0.8, plan, 0);
    answers_as_single_lookups<karpos::cuckoo_map<u32, u32, table_space>>(keys, 0, plan, 0);
  }
}
TEST_CASE("several batches, of which the last is short, are looked up in one workspace") {
  for (u64 const batch : {1, 7, 1000, 39'000})
    answers_as_single_lookups<small_map>(batch < 1000 ? 60 : 20'000, 0.8, {9, batch}, 0);
}
TEST_CASE("frequent queries overflow their partition, and are looked up all the same") {
  for (u64 const frequent : {500, 20'000, 200'000}) {
    answers_as_single_lookups<small_map>(5000, 0.8, {16, 10'002 + frequent}, frequent);
    answers_as_single_lookups<large_map>(5000, 0.8, {16, 10'002 + frequent}, frequent);
    answers_as_single_lookups<small_map>(5000, 0.8, {16, 3000}, frequent);
  }
}

/// Handles keys, or rows of keys and values, by regions as planned. Make: erase_rows or the like.
template <class Tally, class Table, class MakeSource, class MakeBody>
Tally by_regions(Table const& table, table_regions const& plan, u64 n,
                 MakeSource const& make_source, MakeBody const& make_body) {
  Tally done;
  karpos::wrapped_memory const none{nullptr, 0};
  bool const is_done = karpos::detail::try_tally_by_regions(tested_space{}, "test", table, plan, n,
                                                            none, make_source, make_body, done);
  CHECK(is_done == (n > 0));
  return done;
}
template <class Key>
auto source_of(view<Key> const& keys) {
  return [=](u64 first, u64 last) {
    return karpos::detail::source_of_keys<tested_space>(keys, first, last);
  };
}

/// Counts, erases, inserts and merges rows by regions, and compares with a sequential map.
template <class Map>
void changes_as_single_operations(u64 n, double load, u32 regions, u64 batch, u64 frequent) {
  using Key = typename Map::key_type;
  INFO(n, " keys of ", sizeof(Key), " bytes, load ", load, ", ", regions, " regions, ", batch,
       " rows at once, one key ", frequent, " times");
  auto const all = unique_keys<Key>(2 * n, 11);
  auto const some = [&](u64 first, u64 last) {
    return std::vector<Key>(all.begin() + static_cast<std::ptrdiff_t>(first),
                            all.begin() + static_cast<std::ptrdiff_t>(last));
  };
  std::vector<Key> const stored = some(0, n);
  open_map<Map> map(table_space{}, 2 * n, {.load = load});
  map.insert(table_space{}, to_space(stored), Key(1));
  (void)map.ref();  // the map does not see the changes below
  std::unordered_map<Key, Key> expected;
  for (Key const key : stored) expected[key] = 1;
  auto const is_sentinel = [](Key key) { return key >= Key(-2); };
  table_regions const plan{regions, batch};

  auto const check_lookups = [&] {
    view<Key> const out("out", 2 * n);
    map.find(table_space{}, to_space(all), out, Key(0), {.strategy = bulk_strategy::direct});
    auto const got = to_host(out);
    u64 wrong = 0;
    for (u64 i = 0; i < 2 * n; ++i) {
      auto const at = expected.find(all[i]);
      wrong += got[i] != (at == expected.end() ? Key(0) : at->second);
    }
    same("wrong values", wrong, 0);
  };
  auto const count = [&](std::vector<Key> const& queries) {
    karpos::detail::stored_count counted;
    map.with_table([&](auto const& table) {
      using table_type = std::decay_t<decltype(table)>;
      counted = by_regions<karpos::detail::stored_count>(
          table, plan, queries.size(), source_of(to_space(queries)),
          karpos::detail::count_rows<table_type>{table});
    });
    u64 present = 0;
    for (Key const key : queries) present += expected.count(key);
    same("counted", counted.stored, present);
  };
  count(make_queries(stored, some(n, 2 * n), frequent));

  auto const doomed = make_queries(some(n / 2, n), some(n, n + n / 2), frequent);
  karpos::erase_report erased;
  map.with_changed_table([&](auto const& table) {
    using table_type = std::decay_t<decltype(table)>;
    erased =
        by_regions<karpos::erase_report>(table, plan, doomed.size(), source_of(to_space(doomed)),
                                         karpos::detail::erase_rows<table_type>{table});
  });
  u64 gone = 0;
  for (Key const key : doomed) gone += expected.erase(key);
  same("erased", erased.erased, gone);
  check_lookups();
  count(stored);

  auto const keys = make_queries(some(n / 4, n / 4 + n / 2), some(n, n + n / 2), frequent);
  for (bool const merges : {false, true}) {
    view<Key> const k = to_space(keys);
    karpos::insert_report report, wanted;
    auto const insert = [&](auto const& table, auto const& combine) {
      using table_type = std::decay_t<decltype(table)>;
      auto const source = [&](u64 first, u64 last) {
        auto const part = karpos::detail::slice_of(k, first, last);
        return karpos::detail::open_addressing::source_of<tested_space, table_type>(
            part, karpos::detail::constant<Key>{5});
      };
      report = by_regions<karpos::insert_report>(
          table, plan, keys.size(), source,
          karpos::detail::insert_rows<table_type, std::decay_t<decltype(combine)>>{table, combine});
    };
    map.with_changed_table([&](auto const& table) {
      if (merges)
        insert(table, karpos::plus{});
      else
        insert(table, karpos::detail::keep_stored{});
    });
    for (Key const key : keys) {
      if (is_sentinel(key)) {
        ++wanted.invalid;
      } else if (auto const [at, is_new] = expected.try_emplace(key, Key(5)); is_new) {
        ++wanted.inserted;
      } else {
        ++wanted.existing;
        if (merges) at->second += Key(5);
      }
    }
    CHECK(report == wanted);
    check_lookups();
  }
}

TEST_CASE("counts and changes by regions are those of single operations") {
  for (u64 const n : {1, 4, 1000, 10'000})
    for (u32 const regions : {1, 7, 256}) {
      changes_as_single_operations<small_map>(n, 0.8, regions, 4 * n + 4, 0);
      changes_as_single_operations<large_map>(n, 0.5, regions, 4 * n + 4, 0);
      changes_as_single_operations<karpos::hopscotch_map<u32, u32, table_space>>(n, 0.8, regions,
                                                                                 4 * n + 4, 0);
    }
  changes_as_single_operations<small_map>(10'000, 0.95, 16, 20'000, 0);
}
TEST_CASE("rows of frequent keys overflow their region, and rows may come in several batches") {
  for (u64 const frequent : {500, 20'000}) {
    changes_as_single_operations<small_map>(4000, 0.8, 16, 10'000 + frequent, frequent);
    changes_as_single_operations<large_map>(4000, 0.8, 16, 10'000 + frequent, frequent);
    changes_as_single_operations<small_map>(4000, 0.8, 16, 3000, frequent);
  }
  for (u64 const batch : {1, 7, 399})
    changes_as_single_operations<small_map>(100, 0.8, 9, batch, 3);
}

/// The storage of an unordered_map, filled with keys.
template <class Key, class Value>
struct unordered_storage {
  using traits =
      karpos::detail::unordered_map::traits<Key, Value, table_space,
                                            karpos::detail::unordered_map::default_hash<Key>,
                                            karpos::detail::unordered_map::default_equal<Key>>;
  using storage = karpos::detail::unordered_map::storage<traits>;
  struct insert {
    typename storage::table_type table;
    view<Key> keys;
    KOKKOS_FUNCTION void operator()(u64 i) const {
      table.insert(keys(i), static_cast<Value>(i + 1), true);
    }
  };
  storage stored;

  explicit unordered_storage(view<Key> const& keys)
      : stored(keys.extent(0), typename traits::hasher{}, typename traits::key_equal{},
               storage::allocate_bytes) {
    Kokkos::parallel_for("insert", Kokkos::RangePolicy<table_space>(0, keys.extent(0)),
                         insert{stored.view(), keys});
    Kokkos::fence();
  }
  template <class F>
  void with_table(F const& f) const {
    f(stored.view());
  }
};
template <class Key, class Value>
void finds_in_unordered_storage(u64 n, table_regions const& plan, u64 frequent) {
  INFO(n, " keys of ", sizeof(Key), " bytes and values of ", sizeof(Value), ", ", plan.regions,
       " regions, one key ", frequent, " times");
  std::vector<Key> stored, absent;
  for (u64 i = 0; i < n; ++i) stored.push_back(static_cast<Key>(i));
  for (u64 i = n; i < 2 * n; ++i) absent.push_back(static_cast<Key>(i));
  if (n > 2) stored[1] = static_cast<Key>(-1);  // no key is a sentinel
  auto const queries = make_queries(stored, absent, frequent);
  std::unordered_map<Key, Value> in;
  for (u64 i = 0; i < n; ++i) in[stored[i]] = static_cast<Value>(i + 1);
  std::vector<Value> expected;
  for (Key const key : queries) expected.push_back(in.count(key) != 0 ? in[key] : Value(0));
  unordered_storage<Key, Value> const map(to_space(stored));
  CHECK(by_partitions(map, to_space(queries), karpos::detail::value_or<Value>{Value(0)}, Value(99),
                      plan) == expected);
}
TEST_CASE("unordered maps are looked up by partitions, in packed and in wide slots") {
  for (u64 const n : {0, 1, 30, 20'000})
    for (u32 const regions : {1, 16}) {
      finds_in_unordered_storage<u32, u32>(n, {regions, 2 * n + 2}, 0);
      finds_in_unordered_storage<u64, u64>(n, {regions, 2 * n + 2}, 0);
      finds_in_unordered_storage<float, u64>(n, {regions, 2 * n + 2}, 0);
    }
  finds_in_unordered_storage<u32, u32>(5000, {16, 3000}, 20'000);
}

TEST_CASE("the plan is direct for small tables and few queries") {
  tested_space const exec{};
  u64 const cache = karpos::device::cache_bytes(exec);
  if (cache == 0) return;
  auto const plan = [&](u64 bytes, u64 n, bulk_strategy s = bulk_strategy::automatic) {
    return karpos::detail::plan_regions(exec, bytes, n, s);
  };
  constexpr u64 many = u64(1) << 28;
  CHECK(plan(cache, many).is_direct());
  CHECK(plan(20 * cache, 1000).is_direct());
  CHECK(plan(20 * cache, 0).is_direct());
  CHECK_FALSE(plan(20 * cache, many).is_direct());
  CHECK(plan(20 * cache, many, bulk_strategy::direct).is_direct());
  CHECK_FALSE(plan(cache, 1000, bulk_strategy::partitioned).is_direct());
  CHECK(plan(20 * cache, 0, bulk_strategy::partitioned).is_direct());
  u32 const regions = plan(20 * cache, many).regions;  // of a third of the cache each
  CHECK((regions == 60 || regions == 61));
  same("queries at once", plan(20 * cache, many).batch, many / 2);
}

TEST_CASE("every strategy of a map's lookups gives the answers, in any workspace") {
  u64 const n = 50'000;
  auto const all = unique_keys<u32>(2 * n, 3);
  auto const queries = to_space(all);
  std::vector<u32> const stored(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  table_space const exec{};
  karpos::hash_map<u32, u32, table_space> map(exec, n);
  map.insert(exec, to_space(stored), to_space(stored));
  karpos::hash_set<u32, table_space> set(exec, n);
  set.insert(exec, to_space(stored));
  std::vector<u32> expected(stored);
  expected.resize(2 * n, 0);
  view<std::byte> const memory("memory",
                               map.lookup_bytes(exec, queries, bulk_strategy::partitioned) + 64);
  if (karpos::device::cache_bytes(exec) != 0) CHECK(memory.extent(0) > 64 + 8 * n);
  for (auto const strategy : {bulk_strategy::automatic, bulk_strategy::direct,
                              bulk_strategy::partitioned, bulk_strategy::reduced})
    for (std::size_t const bytes : {std::size_t(0), std::size_t(64), memory.extent(0)})
      for (std::size_t const offset : {0, 1}) {
        if (bytes == memory.extent(0) && offset != 0) continue;
        view<u32> const out("out", 2 * n);
        view<bool> const present("present", 2 * n);
        karpos::bulk_options const how{strategy, {memory.data() + offset, bytes}};
        map.find(exec, queries, out, 0u, how);
        CHECK(to_host(out) == expected);
        set.contains(exec, queries, present, how);
        auto const is_in = to_host(present);
        same("stored", static_cast<u64>(std::count(is_in.begin(), is_in.end(), true)), n);
      }
}

/// Calls f with the options of each strategy, without a workspace, with too short a one, and with
/// one of `bytes` bytes.
template <class F>
void with_each_option(std::size_t bytes, F const& f) {
  view<std::byte> const memory("memory", bytes + 64);
  for (auto const strategy : {bulk_strategy::automatic, bulk_strategy::direct,
                              bulk_strategy::partitioned, bulk_strategy::reduced})
    for (std::size_t const given : {std::size_t(0), std::size_t(64), bytes})
      f(karpos::bulk_options{strategy, {memory.data(), given}});
}
TEST_CASE("every strategy of count, erase, insert and find_or_insert gives the same outcomes") {
  u64 const n = 20'000;
  auto const all = unique_keys<u32>(2 * n, 3);
  table_space const exec{};
  auto const part = [&](u64 first, u64 last) {
    return to_space(std::vector<u32>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                     all.begin() + static_cast<std::ptrdiff_t>(last)));
  };
  auto const check = [&](auto map) {
    auto const stored = part(0, n), doomed = part(n / 2, n + n / 2), every = part(0, 2 * n);
    map.insert(exec, stored, 1u);
    view<u32> const out("out", 2 * n);
    constexpr auto forced = bulk_strategy::partitioned;
    std::size_t const bytes =
        std::max({map.lookup_bytes(exec, every, forced), map.insert_bytes(exec, 2 * n, forced)});
    with_each_option(bytes, [&](karpos::bulk_options const& how) {
      same("stored", map.count(exec, every, how), n);
      same("erased", map.erase(exec, doomed, how), n / 2);
      same("left", map.count(exec, every, how), n / 2);
      CHECK(map.insert(exec, stored, 1u, how) == karpos::insert_report{n / 2, n / 2, 0, 0});
      CHECK(map.insert_or_apply(exec, stored, 2u, karpos::plus{}, how) ==
            karpos::insert_report{0, n, 0, 0});
      CHECK(map.insert_or_assign(exec, stored, 4u, how) == karpos::insert_report{0, n, 0, 0});
      CHECK(map.find_or_insert(exec, every, 7u, out, 9u, how) == karpos::insert_report{n, n, 0, 0});
      std::vector<u32> expected(n, 4);
      expected.resize(2 * n, 7);
      CHECK(to_host(out) == expected);
      same("erased again", map.erase(exec, part(n, 2 * n), how), n);
      if constexpr (requires { map.compact(exec); }) map.compact(exec);
    });
  };
  check(small_map(exec, 3 * n));
  check(karpos::hopscotch_map<u32, u32, table_space>(exec, 3 * n));
}
TEST_CASE("every strategy of a multimap's lookups gives the answers") {
  u64 const n = 3000;
  auto const all = unique_keys<u32>(2 * n, 5);
  table_space const exec{};
  std::vector<u32> keys, counts;
  for (u64 i = 0; i < 2 * n; ++i) {
    u64 const copies = i >= n ? 0 : i % 50 == 0 ? 40 : i % 3;
    keys.insert(keys.end(), copies, all[i]);
    counts.push_back(static_cast<u32>(copies));
  }
  karpos::hash_multimap<u32, u32, table_space> map(exec, keys.size());
  map.insert(exec, to_space(keys), 5u);
  karpos::hash_multiset<u32, table_space> set(exec, n);
  set.insert(exec, to_space(keys));
  auto const queries = to_space(all);
  with_each_option(map.lookup_bytes(exec, queries, bulk_strategy::partitioned),
                   [&](karpos::bulk_options const& how) {
                     view<u32> const out("out", 2 * n);
                     view<u64> const wide("out", 2 * n);
                     map.count(exec, queries, out, how);
                     CHECK(to_host(out) == counts);
                     set.count(exec, queries, wide, how);
                     auto const got = to_host(wide);
                     CHECK(std::vector<u32>(got.begin(), got.end()) == counts);
                     view<bool> const present("present", 2 * n);
                     map.contains(exec, queries, present, how);
                     auto const is_in = to_host(present);
                     same("stored", static_cast<u64>(std::count(is_in.begin(), is_in.end(), true)),
                          static_cast<u64>(std::count_if(counts.begin(), counts.end(),
                                                         [](u32 c) { return c != 0; })));
                   });
}
struct insert_in_kernel {
  karpos::unordered_map<u32, u32, table_space> map;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i) const { map.insert(keys(i), keys(i) + 1); }
};
TEST_CASE("an unordered_map is looked up in bulk, by every strategy") {
  u64 const n = 20'000;
  auto const all = unique_keys<u32>(2 * n, 3);
  table_space const exec{};
  std::vector<u32> stored(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  karpos::unordered_map<u32, u32, table_space> const map(n);
  Kokkos::parallel_for("insert", Kokkos::RangePolicy<table_space>(0, n),
                       insert_in_kernel{map, to_space(stored)});
  std::vector<u32> expected;
  for (u32 const key : stored) expected.push_back(key + 1);
  expected.resize(2 * n, 3);
  auto const queries = to_space(all);
  using const_map = decltype(map)::const_map_type;
  const_map const frozen = map;
  with_each_option(karpos::lookup_bytes(exec, map, queries, bulk_strategy::partitioned),
                   [&](karpos::bulk_options const& how) {
                     view<u32> const out("out", 2 * n);
                     karpos::find(exec, map, queries, out, 3u, how);
                     CHECK(to_host(out) == expected);
                     Kokkos::deep_copy(out, 0u);
                     karpos::find(exec, frozen, queries, out, 3u, how);
                     CHECK(to_host(out) == expected);
                     view<bool> const present("present", 2 * n);
                     karpos::contains(exec, map, queries, present, how);
                     auto const is_in = to_host(present);
                     same("stored", static_cast<u64>(std::count(is_in.begin(), is_in.end(), true)),
                          n);
                   });
  view<u32> const out("out", 2 * n);
  karpos_test::throws<std::logic_error>([&] { karpos::find(exec, const_map(), queries, out, 3u); },
                                        "no memory");
  karpos_test::throws<std::invalid_argument>(
      [&] { karpos::find(exec, map, queries, view<u32>("out", 3), 3u); }, "differ in extent");
}

/// Checks that lookup_bytes says what an erasure of n keys takes.
template <class Map>
void bytes_of_erasure(Map const& map, u64 n, u64 max_table_bytes_a_key, bulk_strategy strategy) {
  using namespace karpos::detail;
  table_space const exec{};
  view<u32> const keys("keys", n);
  std::size_t const said = map.lookup_bytes(exec, keys, strategy);
  if constexpr (on_device) {
    map.with_changed_table([&](auto const& table) {
      using word = typename std::decay_t<decltype(table)>::word;
      auto const plan =
          plan_regions(exec, map.capacity() * sizeof(word), n, strategy, max_table_bytes_a_key);
      auto const rows = source_of_keys<table_space>(keys, 0, std::min(n, plan.batch));
      using tally = region_tally<karpos::erase_report, table_space, std::decay_t<decltype(table)>,
                                 std::remove_const_t<decltype(rows)>>;
      CHECK_FALSE(plan.is_direct());
      CHECK(said >= tally(exec, table, rows, plan).bytes());
    });
  } else {
    CHECK(said == 0);
  }
}
TEST_CASE("lookup_bytes covers erasures that are split where lookups are not") {
  struct three_bytes {
    std::uint8_t of[3];
  };
  open_map<karpos::hash_map<u32, three_bytes, table_space>> const odd(table_space{}, 10'000);
  bytes_of_erasure(odd, 10'000, 96, bulk_strategy::partitioned);
  // 64 to 96 bytes of the table a key, which takes a large table to be split by itself.
  u64 const n = on_device ? u64(1) << 23 : 100;
  open_map<small_map> const sparse(table_space{}, 8 * n);
  CHECK(sparse.capacity() * sizeof(u64) / n > 64);
  bytes_of_erasure(sparse, n, 96, bulk_strategy::automatic);
}
TEST_CASE("unknown strategies are refused") {
  karpos::hash_map<u32, u32, table_space> const map(table_space{}, 10);
  view<u32> const queries("queries", 3), out("out", 3);
  constexpr auto unknown = static_cast<bulk_strategy>(7);
  char const* const text = "no such strategy of bulk calls (number 7; valid are 0 to 3)";
  using karpos_test::throws;
  throws<std::invalid_argument>([&] { map.find(table_space{}, queries, out, 0u, {unknown}); },
                                text);
  throws<std::invalid_argument>([&] { map.lookup_bytes(table_space{}, queries, unknown); }, text);
  throws<std::invalid_argument>([&] { map.count(table_space{}, queries, {unknown}); }, text);
  throws<std::invalid_argument>([&] { map.insert_bytes(table_space{}, 3, unknown); }, text);
}

}  // namespace
