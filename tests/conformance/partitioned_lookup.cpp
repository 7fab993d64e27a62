// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bulk lookups by partitions answer what single lookups do: tables of all loads, rare and frequent
/// queries, several batches, sentinels, memory that is short. On GPUs, and on a device that a CPU
/// emulates.
#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "karpos/cuckoo_map.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/hash_map.hpp"
#include "karpos/hash_set.hpp"
#include "karpos/hopscotch_map.hpp"
#include "support/check.hpp"
#include "support/emulated_lookup.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::bulk_strategy;
using karpos::detail::lookup_plan;
using karpos_test::same;
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
};

template <class X>
view<X> to_view(std::vector<X> const& from) {
  view<X> const to("data", from.size());
  auto const host = Kokkos::create_mirror_view(to);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(to, host);
  return to;
}
template <class X>
std::vector<X> to_vector(view<X> const& from) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, from);
  return std::vector<X>(host.data(), host.data() + host.extent(0));
}

/// Looks queries up as planned. Returns what is written for each.
template <class Map, class Key, class Write, class Result>
std::vector<Result> by_partitions(Map const& map, view<Key> const& queries, Write const& write,
                                  Result const& before, lookup_plan const& plan) {
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
  return to_vector(out);
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
void answers_as_single_lookups(u64 keys, double load, lookup_plan const& plan, u64 frequent) {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  INFO(keys, " keys of ", sizeof(Key), " bytes, load ", load, ", ", plan.regions, " regions, ",
       plan.batch, " queries at once, one key ", frequent, " times");
  auto const all = unique_keys<Key>(2 * keys, 7);
  std::vector<Key> const stored(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keys)),
      absent(all.begin() + static_cast<std::ptrdiff_t>(keys), all.end());
  std::vector<T> values(keys);
  for (u64 i = 0; i < keys; ++i) values[i] = static_cast<T>(i + 1);
  auto const map = make<Map>(to_view(stored), to_view(values), load);
  auto const queries = to_view(make_queries(stored, absent, frequent));

  view<T> const found("found", queries.extent(0));
  view<bool> const present("present", queries.extent(0));
  constexpr karpos::bulk_options direct{.strategy = bulk_strategy::direct};
  map.find(table_space{}, queries, found, T(0), direct);
  map.contains(table_space{}, queries, present, direct);
  auto const expected = to_vector(found);
  same("hits",
       static_cast<u64>(
           std::count_if(expected.begin(), expected.end(), [](T x) { return x != T(0); })),
       keys + (keys == 0 ? 0 : frequent));
  CHECK(by_partitions(map, queries, karpos::detail::value_or<T>{T(0)}, T(99), plan) == expected);
  CHECK(by_partitions(map, queries, karpos::detail::presence{}, false, plan) == to_vector(present));
}
using small_map = karpos::hash_map<u32, u32, table_space>;
using large_map = karpos::hash_map<u64, u64, table_space>;

TEST_CASE("lookups by partitions answer as single lookups") {
  for (u64 const keys : {0, 1, 2, 30, 1000, 20'000})
    for (double const load : {0.5, 0.8, 0.95})
      for (u32 const regions : {1, 5, 256}) {
        lookup_plan const plan{regions, 2 * keys + 2};
        answers_as_single_lookups<small_map>(keys, load, plan, 0);
        if (load < 0.9) answers_as_single_lookups<large_map>(keys, load, plan, 0);
      }
  lookup_plan const plan{16, 40'002};
  answers_as_single_lookups<karpos::hash_map<u32, u64, table_space>>(20'000, 0.8, plan, 0);
}
TEST_CASE("hopscotch and cuckoo tables are looked up by partitions, too") {
  for (u64 const keys : {1, 30, 20'000}) {
    lookup_plan const plan{16, 2 * keys + 2};
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

TEST_CASE("the plan is direct for small tables and few queries") {
  tested_space const exec{};
  u64 const cache = karpos::device::cache_bytes(exec);
  if (cache == 0) return;
  auto const plan = [&](u64 bytes, u64 n, bulk_strategy s = bulk_strategy::automatic) {
    return karpos::detail::plan_lookup(exec, bytes, n, s);
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
  auto const queries = to_view(all);
  std::vector<u32> const stored(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  table_space const exec{};
  karpos::hash_map<u32, u32, table_space> map(exec, n);
  map.insert(exec, to_view(stored), to_view(stored));
  karpos::hash_set<u32, table_space> set(exec, n);
  set.insert(exec, to_view(stored));
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
        CHECK(to_vector(out) == expected);
        set.contains(exec, queries, present, how);
        auto const is_in = to_vector(present);
        same("stored", static_cast<u64>(std::count(is_in.begin(), is_in.end(), true)), n);
      }
}

TEST_CASE("unknown strategies are refused") {
  karpos::hash_map<u32, u32, table_space> const map(table_space{}, 10);
  view<u32> const queries("queries", 3), out("out", 3);
  constexpr auto unknown = static_cast<bulk_strategy>(7);
  char const* const text = "no such bulk_strategy (7 of 0 to 3)";
  using karpos_test::throws;
  throws<std::invalid_argument>([&] { map.find(table_space{}, queries, out, 0u, {unknown}); },
                                text);
  throws<std::invalid_argument>([&] { map.lookup_bytes(table_space{}, queries, unknown); }, text);
  throws<std::invalid_argument>([&] { map.insert_bytes(table_space{}, 3, unknown); }, text);
}

}  // namespace
