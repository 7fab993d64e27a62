// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "karpos/hash_map.hpp"
#include "support/emulated_insertion.hpp"
#include "support/keys.hpp"
#include "support/places.hpp"

// Insertions by table segments as a whole, on a device that a CPU emulates: rows split in
// one pass or two, partitions that overflow in either pass, and memory that is refused.

namespace {

using namespace karpos::detail::open_addressing;
namespace partition = karpos::detail::partition;
using host = Kokkos::DefaultHostExecutionSpace;
using karpos::bulk_strategy;
using karpos::insert_report;
using karpos::detail::keep_stored;
using karpos::detail::with_segmented_insertion;
using karpos_test::emulated_map, karpos_test::emulated_space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
template <class X>
using array = Kokkos::View<X*, Kokkos::HostSpace>;

template <class X>
array<X> view_of(std::vector<X> const& from) {
  array<X> const to("data", from.size());
  std::copy(from.begin(), from.end(), to.data());
  return to;
}

template <class Map>
auto plan_of(Map const& map, u64 rows, bool is_empty) {
  return karpos::detail::plan_insertion<keep_stored>(emulated_space{}, map,
                                                     bulk_strategy::partitioned, rows, is_empty,
                                                     karpos::detail::never_pays{});
}
/// Inserts rows by table segments. Returns: whether that was possible.
template <class Map, class Key, class T, class Combine = karpos::detail::keep_stored>
bool insert(Map const& map, std::vector<Key> const& keys, std::vector<T> const& values,
            bool is_empty, insert_report& report, karpos::wrapped_memory workspace = {},
            Combine const& combine = {}) {
  typename Map::report_view const view("report");
  emulated_space::launches.clear();
  return with_segmented_insertion(
      emulated_space{}, "insert", map, plan_of(map, keys.size(), is_empty), workspace, combine,
      [&](auto& insertion) {
        return insertion.insert(view_of(keys), view_of(values), {is_empty, map.has_order()}, view,
                                report);
      });
}
u64 passes() { return emulated_space::launched("karpos::partition: move into fixed partitions"); }
u64 counted() { return emulated_space::launched("karpos::partition: count"); }

template <class Key, class T>
std::map<Key, T> contents(auto const& map) {
  std::map<Key, T> in;
  u64 const n = map.size(host{});
  array<Key> const keys("keys", n);
  array<T> const values("values", n);
  CHECK(map.retrieve_all(host{}, keys, values) == n);
  for (u64 i = 0; i < n; ++i) in[keys(i)] = values(i);
  CHECK(in.size() == n);
  return in;
}
/// Checks that every expected key is found with its value, and no other key.
template <class Key, class T>
void check_lookups(auto const& map, std::map<Key, T> const& expected,
                   std::vector<Key> const& others) {
  CHECK(contents<Key, T>(map) == expected);
  std::vector<Key> keys = others;
  for (auto const& [key, value] : expected) keys.push_back(key);
  array<T> const out("values", keys.size());
  map.find(host{}, view_of(keys), out, T(~T(0)));
  u64 wrong = 0;
  for (u64 i = 0; i < keys.size(); ++i) {
    auto const at = expected.find(keys[i]);
    wrong += out(i) != (at == expected.end() ? T(~T(0)) : at->second);
  }
  CHECK(wrong == 0);
}

/// Inserts keys, and then half of them again with as many others.
template <class Key>
void inserts(u64 n, double load) {
  INFO("n = ", n, ", load ", load, ", bytes ", sizeof(Key));
  emulated_map<Key, Key> map(n + n / 2, load);
  auto const all = karpos_test::unique_keys<Key>(2 * n);
  auto const some = [&](u64 first, u64 last) {
    return std::vector<Key>(all.begin() + static_cast<long>(first),
                            all.begin() + static_cast<long>(last));
  };
  std::map<Key, Key> expected;
  insert_report r;
  CHECK(insert(map, some(0, n), some(0, n), true, r));
  CHECK(r == insert_report{n, 0, 0, 0});
  CHECK(passes() == (map.plan(n).passes.coarse() > 0 ? 2 : 1));
  for (u64 i = 0; i < n; ++i) expected[all[i]] = all[i];
  check_lookups(map, expected, some(n, 2 * n));
  u64 const first = n / 2, last = n + n / 2;
  std::vector<Key> const ones(last - first, Key(1));
  CHECK(insert(map, some(first, last), ones, false, r));
  CHECK(r == insert_report{last - n, n - first, 0, 0});
  for (u64 i = n; i < last; ++i) expected[all[i]] = Key(1);
  check_lookups(map, expected, some(last, 2 * n));
}

TEST_CASE("rows that are split in one pass and in two") {
  for (u64 const n : {1, 4, 300}) {
    inserts<u32>(n, 0.8);
    inserts<u64>(n, 0.8);
  }
  for (double const load : {0.3, 0.8, 0.95}) {
    inserts<u32>(8000, load);
    inserts<u64>(4000, load);
  }
}

TEST_CASE("a plan of two passes cuts the table into coarse partitions of as many partitions each") {
  for (u64 const pairs : {2, 100, 128, 129, 5000, 100000, 1 << 20}) {
    INFO("pairs ", pairs);
    for (u64 const most : {u64(0), u64(8), u64(100)}) {
      segment_plan const p(pairs, 16, 65536, most);
      u64 const n = p.partitions(), coarse = p.passes.coarse(), each = p.passes.each;
      CHECK(n * p.partition_pairs >= p.pairs);
      CHECK((n - 1) * p.partition_pairs < p.pairs);
      CHECK((coarse != 0) == (n > std::max(most, u64(1))));
      if (coarse == 0) continue;
      CHECK(coarse * each >= n);
      CHECK((coarse - 1) * each < n);
      CHECK(std::max(coarse, each) <= 256);
    }
  }
  emulated_map<u32, u32> map(50000);
  segment_plan const p = map.plan(50000);
  CHECK(p.passes.coarse() > 1);
  partition_of_key<emulated_map<u32, u32>::ref_type> const to_fine(map.ref(), p),
      to_coarse(map.ref(), p, p.passes.each);
  u64 wrong = 0;
  for (u32 const key : karpos_test::unique_keys<u32>(20000))
    wrong += to_coarse(key) != to_fine(key) / p.passes.each;
  CHECK(wrong == 0);
}

/// The passes of an insertion, and which of its partitions overflowed.
struct passes_seen {
  u64 passes = 0;
  bool coarse_overflows = false, fine_overflows = false;
};
passes_seen crowded(u32 each, u32 partitions) {
  INFO("one key in ", each, " in one partition of ", partitions);
  u64 const n = 40000;
  karpos_test::hash_of_place const hash(karpos::detail::hashed::open_addressing,
                                        emulated_map<u32, u32>(n).capacity());
  emulated_map<u32, u32, karpos_test::clustered_hash> map(n, 0.5, {each, partitions, hash});
  auto const keys = karpos_test::unique_keys<u32>(n + 1000);
  std::vector<u32> const in(keys.begin(), keys.begin() + static_cast<long>(n)),
      others(keys.begin() + static_cast<long>(n), keys.end());
  segment_plan const plan = map.plan(n);
  std::size_t const bytes = map.bytes(n);
  std::vector<std::byte> own(bytes + 64);
  auto* const at = own.data() + (64 - reinterpret_cast<std::uintptr_t>(own.data()) % 64) % 64;
  insert_report r;
  CHECK(insert(map, in, in, true, r, {at, bytes}));
  CHECK(r == insert_report{n, 0, 0, 0});
  std::map<u32, u32> expected;
  for (u32 const key : in) expected[key] = key;
  check_lookups(map, expected, others);
  passes_seen seen{passes()};
  if (counted() > 0) return seen;
  decltype(map)::memory const m({}, plan, n, at);
  auto const overflows = [](auto const& to) {
    return std::any_of(to.taken, to.taken + to.partitions,
                       [&](u32 rows) { return rows > to.capacity; });
  };
  seen.coarse_overflows = overflows(m.by_capacity.coarse);
  seen.fine_overflows = overflows(m.by_capacity.fine);
  return seen;
}

TEST_CASE("partitions that overflow, in the first pass and in the second") {
  passes_seen const first = crowded(80, 16), second = crowded(250, 2000);
  CHECK(first.passes == 2);
  CHECK(first.coarse_overflows);
  CHECK(second.passes == 2);
  CHECK(!second.coarse_overflows);
  CHECK(second.fine_overflows);
}

TEST_CASE("overflowed rows, more than the list holds, are counted") {
  crowded(3, 16);
  CHECK(passes() == 2);
  CHECK(counted() == 1);
}

TEST_CASE("one key in half of the rows: sums") {
  u64 const n = 30000;
  auto keys = karpos_test::unique_keys<u32>(n, 3);
  for (u64 i = 0; i < n; i += 2) keys[i] = 42;
  std::map<u32, u32> counts;
  for (u32 const k : keys) ++counts[k];
  emulated_map<u32, u32> map(n);
  insert_report r;
  bool const by_segments = insert(map, keys, std::vector<u32>(n, 1), true, r, {}, karpos::plus{});
  CHECK(passes() == 2);
  CHECK(counted() == 1);
  if (!by_segments) return;  // one partition is too long: nothing was inserted
  CHECK(r.inserted == counts.size());
  CHECK(r.inserted + r.existing == n);
  CHECK(contents<u32, u32>(map) == counts);
}

TEST_CASE("a partition that is too long: the table is as empty as before") {
  u64 const n = 80000;
  auto const unique = karpos_test::unique_keys<u32>(n, 3);
  auto keys = unique;
  for (u64 i = 0; i < n; i += 2) keys[i] = 42;
  emulated_map<u32, u32> map(n);
  insert_report r;
  CHECK(!insert(map, keys, keys, true, r));
  CHECK(passes() == 2);
  CHECK(map.size(host{}) == 0);
  map.insert(host{}, view_of(unique), view_of(unique));
  std::map<u32, u32> expected;
  for (u32 const key : unique) expected[key] = key;
  check_lookups<u32, u32>(map, expected, {});
}

/// Tries insertions with workspaces of several sizes, the caller's or their own.
void with_memory(bool is_empty, bool is_callers) {
  u64 const n = 30000;
  auto const keys = karpos_test::unique_keys<u32>(n + 1);
  std::vector<u32> const in(keys.begin() + 1, keys.end());
  using map_type = emulated_map<u32, u32>;
  map_type const like(n);
  segment_plan const segments =
      is_empty ? like.plan(n) : one_pass_plan<emulated_space, map_type::ref_type>(like.pairs());
  std::size_t const needed = map_type::memory({}, segments, n).bytes, all = like.bytes(n);
  CHECK(needed <= all);
  std::vector<std::byte> own(all + 64);
  auto* const at = own.data() + (64 - reinterpret_cast<std::uintptr_t>(own.data()) % 64) % 64;
  for (std::size_t const bytes : {all, needed, needed - 1}) {
    INFO("into an empty one: ", is_empty, ", the caller's: ", is_callers, ", bytes ", bytes);
    map_type map(n);
    if (!is_empty) map.insert(host{}, view_of(std::vector<u32>{keys[0]}), u32(1));
    emulated_space::max_bytes = is_callers ? 0 : bytes;
    insert_report r;
    bool const by_segments =
        insert(map, in, in, is_empty, r,
               is_callers ? karpos::wrapped_memory{at, bytes} : karpos::wrapped_memory{});
    emulated_space::max_bytes = ~std::size_t(0);
    CHECK(by_segments == (bytes >= needed));
    CHECK(passes() == (!by_segments ? 0 : is_empty ? 2 : 1));
    CHECK(map.size(host{}) == (by_segments ? n : 0) + !is_empty);
    if (by_segments) CHECK(r == insert_report{n, 0, 0, 0});
  }
}

TEST_CASE("without memory no row is split, and the table stays as it was") {
  for (bool const is_empty : {true, false})
    for (bool const is_callers : {true, false}) with_memory(is_empty, is_callers);
}

TEST_CASE("few rows go into a table that holds keys by regions, if there is memory") {
  using karpos::detail::insertion_path;
  u64 const n = 20000, more = 300;
  auto const keys = karpos_test::unique_keys<u32>(n + 2 * more);
  auto const some = [&](u64 first, u64 last) {
    return std::vector<u32>(keys.begin() + static_cast<long>(first),
                            keys.begin() + static_cast<long>(last));
  };
  emulated_map<u32, u32> map(n + more);
  map.insert(host{}, view_of(some(0, n)), u32(1));
  CHECK(plan_of(map, more, true).path == insertion_path::segmented);
  CHECK(plan_of(map, n, false).path == insertion_path::segmented);
  // The boundary, of 200 bytes of the table a row here.
  u64 const most = map.capacity() * sizeof(u64) / 200;
  CHECK(plan_of(map, most, false).path == insertion_path::regional);
  CHECK(plan_of(map, most + 1, false).path == insertion_path::segmented);
  auto const plan = plan_of(map, 2 * more, false);
  CHECK(plan.path == insertion_path::regional);
  CHECK(plan.bytes <= map.bytes(2 * more));
  auto const rows_keys = view_of(some(n - more, n + more));
  array<u32> const values("values", 2 * more);
  Kokkos::deep_copy(values, 5u);
  karpos::detail::insertion const rows{"insert", rows_keys, values, karpos::plus{},
                                       karpos::detail::everything{}};
  std::vector<std::byte> own(plan.bytes + 64);
  auto* const at = own.data() + (64 - reinterpret_cast<std::uintptr_t>(own.data()) % 64) % 64;
  auto const try_insert = [&](karpos::wrapped_memory const& given, insert_report& r) {
    return karpos::detail::try_insert_regions(emulated_space{}, "insert", map.ref(), plan, rows,
                                              given, r);
  };
  insert_report r;
  CHECK_FALSE(try_insert({at, plan.bytes - 1}, r));
  emulated_space::max_bytes = plan.bytes - 1;
  CHECK_FALSE(try_insert({nullptr, 0}, r));
  CHECK(r == insert_report{});
  CHECK(try_insert({at, plan.bytes}, r));
  emulated_space::max_bytes = ~std::size_t(0);
  CHECK(r == insert_report{more, more, 0, 0});
  CHECK(try_insert({nullptr, 0}, r));
  CHECK(r == insert_report{more, 3 * more, 0, 0});
  std::map<u32, u32> expected;
  for (u64 i = 0; i < n + more; ++i) expected[keys[i]] = i < n - more ? 1 : i < n ? 11 : 10;
  check_lookups(map, expected, some(n + more, n + 2 * more));
}

TEST_CASE("an empty table that has fewer slots than there are rows") {
  u64 const n = 30000;
  auto keys = karpos_test::unique_keys<u32>(n / 4);
  auto const draws = karpos_test::skewed_draws(keys, n, 5);
  emulated_map<u32, u32> map(n / 4);
  CHECK(map.capacity() < n);
  CHECK(map.plan(map.capacity() - n / 8).passes.coarse() > 0);
  insert_report r;
  CHECK(insert(map, draws, std::vector<u32>(n, 1), true, r, {}, karpos::plus{}));
  CHECK(passes() == 1);
  std::map<u32, u32> counts;
  for (u32 const k : draws) ++counts[k];
  CHECK(r.inserted == counts.size());
  CHECK(contents<u32, u32>(map) == counts);
}

TEST_CASE("the slots of a table with tombstones, split in two passes") {
  u64 const n = 20000;
  auto const keys = karpos_test::unique_keys<u32>(n);
  emulated_map<u32, u32> from(n), to(2 * n);
  from.insert(host{}, view_of(keys), view_of(keys));
  std::map<u32, u32> expected;
  std::vector<u32> gone;
  for (u64 i = 0; i < n; ++i)
    if (i % 5 == 0)
      gone.push_back(keys[i]);
    else
      expected[keys[i]] = keys[i];
  from.erase(host{}, view_of(gone));
  decltype(to)::report_view const view("report");
  insert_report r;
  emulated_space::launches.clear();
  CHECK(with_segmented_insertion(emulated_space{}, "rehash", to, plan_of(to, n - gone.size(), true),
                                 {}, keep_stored{}, [&](auto& insertion) {
                                   return insertion.insert_slots(from.ref(), from.capacity(), false,
                                                                 view, r);
                                 }));
  CHECK(passes() == 2);
  CHECK(r == insert_report{expected.size(), 0, 0, 0});
  check_lookups(to, expected, gone);
}

}  // namespace
