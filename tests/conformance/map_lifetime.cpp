// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tables without memory, moves, and growth as an option.
#include <algorithm>
#include <karpos/cuckoo_map.hpp>
#include <karpos/cuckoo_set.hpp>
#include <karpos/for_each_until_placed.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/hopscotch_map.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace {

using karpos::growth;
using karpos::insert_report;
using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A visitor and predicate, and a reduction, of pairs.
struct visit_nothing {
  KOKKOS_FUNCTION bool operator()(u32, u32) const { return true; }
  KOKKOS_FUNCTION void operator()(u32, u32, u64&) const {}
};
struct add_one {
  KOKKOS_FUNCTION void operator()(u32, u32& value) const { ++value; }
};
struct sum_values {
  KOKKOS_FUNCTION void operator()(u32, u32 value, u64& sum) const { sum += value; }
};

template <class Map>
void check_without_memory(Map& map) {
  auto const keys = to_space(std::vector<u32>{1, 2, 3});
  view<u32> const out("out", 3);
  same("size without memory", map.size(space{}), 0);
  same("capacity without memory", map.capacity(), 0);
  holds("empty", map.empty(space{}) && map.empty());
  same("retrieve_all", map.retrieve_all(space{}, out, out), 0);
  auto const refused = [](auto const& f) { throws<std::logic_error>(f, "no memory", "assign"); };
  u64 sum = 0;
  refused([&] { map.for_each(space{}, visit_nothing{}); });
  refused([&] { std::as_const(map).for_each(space{}, visit_nothing{}); });
  refused([&] { map.reduce(space{}, visit_nothing{}, Kokkos::Sum<u64>(sum)); });
  refused([&] { map.find(space{}, keys, out, 0u); });
  refused([&] { map.count(space{}, keys); });
  refused([&] { map.lookup_bytes(space{}, keys); });
  refused([&] { (void)map.ref(); });
  if constexpr (requires { map.frozen_ref(); }) refused([&] { (void)map.frozen_ref(); });
  if constexpr (requires { map.stats(space{}); })
    same("slots in the statistics", map.stats(space{}).slots, 0);
  if constexpr (requires { map.erase(space{}, keys); }) {
    same("max_keys", map.max_keys(), 0);
    holds("load_factor", map.load_factor(space{}) == 0);
    refused([&] { map.insert(space{}, keys, 1u); });
    refused([&] { map.erase(space{}, keys); });
    refused([&] { map.erase_if(space{}, visit_nothing{}); });
    refused([&] { map.rehash(space{}, 10); });
    map.clear(space{});
  }
}

template <class Map>
void moves(Map a) {
  auto const keys = to_space(std::vector<u32>{1, 2, 3});
  Map b;
  check_without_memory(b);
  b = std::move(a);
  check_without_memory(a);
  same("moved by assignment", b.count(space{}, keys), 3);
  Map c(std::move(b));
  check_without_memory(b);
  same("moved by construction", c.count(space{}, keys), 3);
  auto& itself = c;
  c = std::move(itself);
  same("moved to itself", c.count(space{}, keys), 3);
  deep_copy(space{}, b, c);
  same("copied into a table without memory", b.count(space{}, keys), 3);
  if constexpr (requires { b.erase(space{}, keys); }) {
    same("which then takes insertions",
         b.insert(space{}, to_space(std::vector<u32>{4}), 1u).inserted, 1);
    same("and erasures", b.erase(space{}, keys), 3);
  }
  same("the source is as it was", c.size(space{}), 3);
  if constexpr (requires { b.erase(space{}, keys); }) {
    deep_copy(space{}, c, Map());  // copies of tables without memory have none
    check_without_memory(c);
  }
}

TEST_CASE("cuckoo tables without memory take no insertions") {
  auto const keys = to_space(std::vector<u32>{1, 2, 3});
  using map = karpos::cuckoo_map<u32, u32, space>;
  using set = karpos::cuckoo_set<u32, space>;
  map none;
  throws<std::logic_error>([&] { none.insert(space{}, keys, keys); }, "no memory");
  map full(space{}, keys, keys, {.layout = karpos::cuckoo_layout::dense});
  map const moved = std::move(full);
  throws<std::logic_error>([&] { full.insert(space{}, keys, keys); }, "no memory");
  set keys_only(space{}, keys, {.layout = karpos::cuckoo_layout::dense});
  set const moved_set = std::move(keys_only);
  throws<std::logic_error>([&] { keys_only.insert(space{}, keys); }, "no memory");
}

/// Checks that a table that was moved from, and whose memory and reports are gone with its
/// successor, can become a copy.
template <class Map>
void check_reuse() {
  auto const keys = to_space(std::vector<u32>{1, 2, 3});
  Map source(space{}, 10);
  source.insert(space{}, keys, 7u);
  Map a(space{}, 10), b(space{}, 10);
  (void)a.ref();
  {
    Map const by_construction(std::move(a));
    Map by_assignment;
    by_assignment = std::move(b);
  }
  for (Map* map : {&a, &b}) {
    {
      karpos_test::listener const recorder;
      deep_copy(space{}, *map, source);
      u64 reports = 0;
      for (auto const& label : karpos_test::record.allocations)
        reports += label.find("_report") != std::string::npos;
      same("reports that are allocated anew", reports, 2);
      karpos_test::record = {};
      same("size", map->size(space{}), 3);
      holds("which is known: no ref of this memory is about", karpos_test::record.launches.empty());
    }
    holds("insert",
          map->insert(space{}, to_space(std::vector<u32>{1, 4}), 1u) == insert_report{1, 1, 0, 0});
    same("erase", map->erase(space{}, keys), 3);
    same("size", map->size(space{}), 1);
  }
}
TEST_CASE("a table that was moved from is made a copy, and used") {
  check_reuse<karpos::hash_map<u32, u32, space>>();
  check_reuse<karpos::hopscotch_map<u32, u32, space>>();
}

/// Copies into tables that are smaller or larger than the source, and whose memory refs point to.
template <class Map>
void copies_into_other_sizes() {
  auto const keys = to_space(unique_keys<u32>(500));
  Map source(space{}, 500);
  source.insert(space{}, keys, 7u);
  for (u64 const max_keys : {5, 499, 500, 501, 5000}) {
    Map to(space{}, max_keys);
    to.insert(space{}, to_space(std::vector<u32>{3}), 1u);
    (void)to.ref();
    bool const gets_new_memory = to.capacity() != source.capacity();
    {
      karpos_test::listener const recorder;
      deep_copy(space{}, to, source);
      karpos_test::record = {};
      same("size of a copy", to.size(space{}), 500);
      holds("which is known unless the memory is one that a ref points to",
            karpos_test::record.launches.empty() == gets_new_memory);
    }
    same("capacity of a copy", to.capacity(), source.capacity());
    same("keys of a copy", to.count(space{}, keys), 500);
  }
}
TEST_CASE("copies into tables of other sizes") {
  copies_into_other_sizes<karpos::hash_map<u32, u32, space>>();
#if KARPOS_FULL_TESTS
  copies_into_other_sizes<karpos::hopscotch_map<u32, u32, space>>();
#endif
}

TEST_CASE("a table has the slots that its load asks for") {
  using linear = karpos::hash_map<u32, u32, space, karpos::hash<u32>, karpos::equal_to<u32>,
                                  karpos::linear_probing>;
  u64 too_small = 0;
  for (double const load : {0.3, 0.5, 0.8, 0.98})
    for (u64 n = 1; n <= 300; ++n) {
      linear const map(space{}, n, {.load = load});
      too_small += static_cast<double>(map.capacity()) < static_cast<double>(n) / load;
    }
  same("tables with too few slots", too_small, 0);
}

TEST_CASE("tables without memory, and moves") {
  auto const keys = to_space(std::vector<u32>{1, 2, 3});
  karpos::hash_map<u32, u32, space> a(space{}, 10);
  a.insert(space{}, keys, 7u);
  moves(std::move(a));
  karpos::hopscotch_map<u32, u32, space> h(space{}, 10);
  h.insert(space{}, keys, 7u);
  moves(std::move(h));
  moves(karpos::cuckoo_map<u32, u32, space>(space{}, keys, keys));
}

template <class Map>
void grows_in_bulk() {
  u64 const n = 3000;
  auto const keys = to_space(unique_keys<u32>(n));
  Map map(space{}, 10, {.growth = growth::automatic});
  holds("grows", map.grows());
  holds("all are inserted", map.insert(space{}, keys, 1u) == insert_report{n, 0, 0, 0});
  holds("again", map.insert_or_assign(space{}, keys, 2u) == insert_report{0, n, 0, 0});
  same("all are there", map.count(space{}, keys), n);
  u64 const grown = map.capacity();
  for (int round = 0; round < 5; ++round) {
    same("erased", map.erase(space{}, keys), n);
    same("others", map.insert(space{}, to_space(unique_keys<u32>(n, 3)), 1u).inserted, n);
    same("erased again", map.erase(space{}, to_space(unique_keys<u32>(n, 3))), n);
    same("and back", map.insert(space{}, keys, 1u).inserted, n);
  }
  holds("a table whose keys are replaced does not grow for ever", map.capacity() <= 2 * grown);
}

TEST_CASE("growth as an option") {
  grows_in_bulk<karpos::hash_map<u32, u32, space>>();
  grows_in_bulk<karpos::hopscotch_map<u32, u32, space>>();
  auto const keys = to_space(unique_keys<u32>(1000));
  karpos::hash_map<u32, u32, space> fixed(space{}, 10);
  holds("hash_map does not grow by itself",
        !fixed.grows() && fixed.insert(space{}, keys, 1u).rejected != 0);
  karpos::hopscotch_map<u32, u32, space> small(space{}, 10, {.growth = growth::fixed});
  auto const r = small.insert(space{}, keys, 1u);
  holds("hopscotch_map rejects when it may not grow", !small.grows() && r.rejected != 0);
  same("what it says is in is in", small.size(space{}), r.inserted);
  karpos::hash_set<u32, space> set(space{}, 10, {.growth = growth::automatic});
  same("a set grows", set.insert(space{}, keys).inserted, 1000);
}

/// Inserts many equal keys in one call: the table grows by the number of different keys.
template <class Map>
void grows_by_different_keys() {
  std::vector<u32> keys(1000000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<u32>(i % 2000);
  auto const many = to_space(keys), same_key = to_space(std::vector<u32>(1000000, 123456u));
  Map map(space{}, 1000, {.growth = growth::automatic});
  holds("2,000 keys, 500 times each",
        map.insert_or_assign(space{}, many, 1u) == insert_report{2000, 998000, 0, 0});
  holds("slots for 2,000 keys", map.capacity() < 10000);
  Map full(space{}, 100, {.growth = growth::automatic});
  full.insert(space{}, to_space(unique_keys<u32>(full.capacity())), 1u);
  u64 const held = full.size(space{});
  full.insert(space{}, same_key, 1u);
  same("one key more", full.size(space{}), held + 1);
  holds("slots for one key more", full.capacity() < 2000);
}
TEST_CASE("growth where the views have their extent in their type") {
  auto const numbers = unique_keys<u32>(300);
  Kokkos::View<u32[300], space::memory_space> const keys("keys"), stencil("stencil");
  Kokkos::deep_copy(keys, to_space(numbers));
  Kokkos::deep_copy(stencil, 1u);
  karpos::hash_map<u32, u32, space> map(space{}, 10, {.growth = growth::automatic});
  holds("each key once", map.insert(space{}, keys, keys) == insert_report{300, 0, 0, 0});
  same("no other", map.size(space{}), 300);
  map.clear(space{});
  holds("chosen by a stencil",
        map.insert_if(space{}, keys, keys, stencil) == insert_report{300, 0, 0, 0});
  karpos::hash_map<u32, u32, space> sums(space{}, 10, {.growth = growth::automatic});
  holds("sums",
        sums.insert_or_apply(space{}, keys, keys, karpos::plus{}) == insert_report{300, 0, 0, 0});
}

TEST_CASE("a table without memory to grow takes what it can at once, and says why not the rest") {
  if (!karpos_test::can_exhaust_memory()) return;
  u64 const n = 180'000;  // two thirds of them do not fit
  auto const keys = to_space(unique_keys<u32>(n));
  karpos::hash_map<u32, u32, space> map(space{}, 60'000, {.growth = growth::automatic});
  std::size_t launches = 0;
  {
    karpos_test::listener const recorder;
    karpos_test::no_memory const none(std::size_t(1) << 20);
    throws<karpos::allocation_error>([&] { map.insert(space{}, keys, 1u); }, "out of memory");
    launches = karpos_test::record.launches.size();
  }
  CHECK(launches < 50);
  u64 const held = map.size(space{});
  holds("it was full", held > 60'000);
  same("those in it", map.count(space{}, keys), held);
}

TEST_CASE("growth is bounded by the keys that differ") {
  grows_by_different_keys<karpos::hash_map<u32, u32, space>>();
  grows_by_different_keys<karpos::hopscotch_map<u32, u32, space>>();
  std::vector<u32> keys(1000000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<u32>(i % 2000);
  karpos::hash_map<u32, u32, space> map(space{}, 1000, {.growth = growth::automatic});
  auto const r = map.insert_or_apply(space{}, to_space(keys), 1u, karpos::plus{});
  holds("merged", r == insert_report{2000, 998000, 0, 0} && map.capacity() < 10000);
}

TEST_CASE("a merge that grows the table merges each value once") {
  auto const once = unique_keys<u32>(500);
  auto twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  karpos::hash_map<u32, u32, space> map(space{}, 10, {.growth = growth::automatic});
  auto const r = map.insert_or_apply(space{}, to_space(twice), 3u, karpos::plus{});
  holds("the report", r == insert_report{500, 500, 0, 0});
  view<u32> const out("out", 500);
  map.find(space{}, to_space(once), out, 0u);
  holds("the sums", to_host(out) == std::vector<u32>(500, 6));
}

struct constant_hash {
  KOKKOS_FUNCTION u64 operator()(u32) const { return 0; }
};
/// Inserts more keys with one hash than fit, whatever the size.
template <class Map>
void shares_a_hash(u64 n) {
  Map map(space{}, 100, {.growth = growth::automatic});
  auto keys = unique_keys<u32>(n);
  auto const r = map.insert(space{}, to_space(keys), 1u);
  same("every key has an end", r.inserted + r.rejected, n);
  same("none was there", r.existing, 0);
  same("those that are in", map.count(space{}, to_space(keys)), r.inserted);
  for (int again = 0; again < 5; ++again) map.insert(space{}, to_space(keys), 1u);
  holds("there is an end to growth", map.capacity() <= 16 * 2 * n * 2);
}
/// A user's hash that crowds all keys into the first of Parts equal pieces of the range, at random
/// places; with Parts 1 the keys are spread evenly.
template <unsigned Parts>
struct crowded_hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return karpos::hash<u32>{}(key) / Parts; }
};
/// A hash that keeps the order of the keys: the keys of a batch crowd into one piece of the range,
/// and all strides of double hashing are alike.
struct identity_hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return u64(key) << 32; }
};

template <class Map>
void grows_for_all(char const* what, std::vector<u32> const& keys, u64 batch) {
  INFO(std::string(what));
  Map map(space{}, 0, {.growth = growth::automatic});
  insert_report all;
  for (u64 i = 0; i < keys.size(); i += batch) {
    auto const end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(i + batch, keys.size()));
    std::vector<u32> const some(keys.begin() + static_cast<std::ptrdiff_t>(i), end);
    all += map.insert(space{}, to_space(some), 1u);
  }
  CHECK(bool(all == insert_report{keys.size(), 0, 0, 0}));
  CHECK(map.count(space{}, to_space(keys)) == keys.size());
  CHECK(map.capacity() <= 2 * 16 * keys.size());
}
TEST_CASE("crowded keys do not end growth before there are sixteen slots a key") {
  auto const keys = unique_keys<u32>(10'000);
  std::vector<u32> sorted(10'000);
  for (u32 i = 0; i < sorted.size(); ++i) sorted[i] = i << 18;
  for (u64 const batch : {10'000, 1'000}) {
    grows_for_all<karpos::hash_map<u32, u32, space, crowded_hash<64>>>("1/64", keys, batch);
    grows_for_all<karpos::hash_map<u32, u32, space, identity_hash>>("identity", sorted, batch);
    grows_for_all<karpos::hopscotch_map<u32, u32, space, crowded_hash<8>>>("1/8, hopscotch", keys,
                                                                           batch);
    grows_for_all<karpos::hopscotch_map<u32, u32, space, identity_hash>>("identity, hopscotch",
                                                                         sorted, batch);
#if KARPOS_FULL_TESTS
    using equal = karpos::equal_to<u32>;
    using linear =
        karpos::hash_map<u32, u32, space, crowded_hash<64>, equal, karpos::linear_probing>;
    using narrow =
        karpos::hash_map<u32, u32, space, identity_hash, equal, karpos::double_hashing, 1>;
    grows_for_all<linear>("1/64, linear", keys, batch);
    grows_for_all<narrow>("identity, buckets of one", sorted, batch);
#endif
  }
}

TEST_CASE("keys in the order of another map do not end growth") {
  u64 const n = karpos_test::dies_without_memory ? 40'000 : 400'000;
  auto const keys = to_space(unique_keys<u32>(n));
  karpos::hash_map<u32, u32, space> source(space{}, n);
  source.insert(space{}, keys, 1u);
  view<u32> const ordered("ordered", n), values("values", n);
  source.retrieve_all(space{}, ordered, values);
  karpos::hash_map<u32, u32, space> map(space{}, 0, {.growth = growth::automatic});
  insert_report all;
  for (u64 i = 0; i < n; i += n / 10)
    all += map.insert(space{}, Kokkos::subview(ordered, std::pair(i, i + n / 10)), 1u);
  holds("each is inserted", all == insert_report{n, 0, 0, 0});
  same("each is there", map.count(space{}, keys), n);
}

TEST_CASE("growth that ends says so") {
  auto const keys = to_space(unique_keys<u32>(300));
  karpos::hopscotch_map<u32, u32, space, constant_hash> map(space{}, 10);
  throws<karpos::capacity_error>([&] { map.insert_or_throw(space{}, keys, 1u); }, "16 slots a key",
                                 "Choose another Hash", "found space for 32");
  karpos::hopscotch_map<u32, u32, space, constant_hash> fixed(space{}, 10,
                                                              {.growth = growth::fixed});
  throws<karpos::capacity_error>([&] { fixed.insert_or_throw(space{}, keys, 1u); }, "is full");
}

TEST_CASE("keys that share a hash end growth instead of the memory") {
  shares_a_hash<karpos::hash_map<u32, u32, space, constant_hash>>(6000);
  shares_a_hash<karpos::hopscotch_map<u32, u32, space, constant_hash>>(300);
}

template <class Ref>
struct insert_one {
  Ref map;
  u32 key;
  KOKKOS_FUNCTION void operator()(int) const { map.insert(key, 1u); }
};

/// Checks the size that a map reports, and the number of keys that a scan finds.
template <class Map>
void has_size(Map const& map, u64 expected, char const* when) {
  view<u32> const keys("keys", map.capacity()), values("values", map.capacity());
  same(std::string("size ") + when, map.size(space{}), expected);
  same(std::string("keys ") + when, map.retrieve_all(space{}, keys, values), expected);
}

/// Checks that sizes are counted while the host sees every change, and computed by a scan
/// otherwise.
template <class Map>
void counts_its_keys() {
  auto const keys = unique_keys<u32>(4000);
  auto const some = [&](std::size_t first, std::size_t last) {
    return to_space(std::vector<u32>(keys.begin() + static_cast<std::ptrdiff_t>(first),
                                     keys.begin() + static_cast<std::ptrdiff_t>(last)));
  };
  Map map(space{}, 100, {.growth = growth::automatic});
  has_size(map, 0, "at first");
  map.insert(space{}, some(0, 90), 1u);
  has_size(map, 90, "after insert");
  map.insert_or_assign(space{}, some(50, 1000), 1u);
  has_size(map, 1000, "after growth");
  map.erase(space{}, some(0, 400));
  has_size(map, 600, "after erase");
  map.erase(space{}, some(0, 400));
  has_size(map, 600, "after erasing what is not there");
  Map copy;
  deep_copy(space{}, copy, map);
  has_size(copy, 600, "of a copy");
  typename Map::report_view const report("report");
  copy.insert_async(space{}, some(0, 10), 1u, report);
  has_size(copy, 610, "after insert_async");
  copy.insert(space{}, some(0, 20), 1u);
  has_size(copy, 620, "after insert again");
  copy.clear(space{});
  has_size(copy, 0, "after clear");
  copy.insert(space{}, some(0, 20), 1u);
  auto const ref = copy.ref();
  Kokkos::parallel_for("karpos_test::insert_one", Kokkos::RangePolicy<space>(0, 1),
                       insert_one<typename Map::ref_type>{ref, keys[30]});
  has_size(copy, 21, "after a kernel's insertion");
  copy.insert(space{}, some(0, 25), 1u);
  has_size(copy, 26, "while a ref is about");
  copy.rehash(space{}, 50);
  has_size(copy, 26, "after rehash");
  typename Map::erase_view const erased("erased");
  copy.erase_async(space{}, some(0, 5), erased);
  has_size(copy, 21, "after erase_async");
  map.clear(space{});
  has_size(map, 0, "after clear of a map whose size was known");
}

TEST_CASE("size is right however the map was changed") {
  counts_its_keys<karpos::hash_map<u32, u32, space>>();
  counts_its_keys<karpos::hopscotch_map<u32, u32, space>>();
}

/// Knows the map's keys, which are below `keys`; its functions count their calls with other keys.
struct own_keys {
  u32 keys;
  view<u64> foreign;
  KOKKOS_FUNCTION void see(u32 key) const {
    if (key >= keys) Kokkos::atomic_inc(&foreign(0));
  }
};
struct hash_of_own : own_keys {
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return see(key), key; }
};
struct equal_of_own : own_keys {
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return see(a), see(b), a == b; }
};

/// Checks that a user's functions are only called with keys of the map and queries, never with the
/// contents of other slots.
template <class Map>
void calls_functions_with_its_keys(char const* name) {
  constexpr u32 n = 3000;
  own_keys const own{n, view<u64>("foreign", 1)};
  auto const none = [&](char const* when) {
    same(std::string(name) + ": foreign keys in " + when, to_host(own.foreign)[0], 0);
    Kokkos::deep_copy(own.foreign, u64(0));
  };
  std::vector<u32> all(n);
  for (u32 i = 0; i < n; ++i) all[i] = i;
  auto const keys = to_space(all);
  auto const some = to_space(std::vector<u32>(all.begin(), all.begin() + n / 3));
  view<u32> const out("out", n);
  Map map(space{}, 100, {.growth = growth::automatic}, hash_of_own{own}, equal_of_own{own});
  map.insert(space{}, keys, keys);
  none("growth");
  map.erase(space{}, some);
  map.find(space{}, keys, out, 0u);
  map.count(space{}, keys);
  none("erasures and lookups");
  view<u32> const keys_out("keys_out", n), values_out("values_out", n);
  map.for_each(space{}, add_one{});
  std::as_const(map).for_each(space{}, visit_nothing{});
  u64 sum = 0;
  map.reduce(space{}, sum_values{}, Kokkos::Sum<u64>(sum));
  same("retrieved", map.retrieve_all(space{}, keys_out, values_out), n - n / 3);
  same("sum of values", sum, (u64(n) * (n + 1) - u64(n / 3) * (n / 3 + 1)) / 2);
  none("loops over the map");
  if constexpr (requires { map.compact(space{}); }) {
    map.compact(space{});
    none("compaction");
    map.erase(space{}, some);
  }
  map.rehash(space{}, 3 * n);
  none("rehash");
  map.insert(space{}, some, some);
  map.erase_if(space{}, visit_nothing{});
  none("erase_if");
  map.insert_or_apply(space{}, keys, keys, karpos::plus{});
  none("insert_or_apply");
  map.rehash(space{}, n);
  none("a second rehash");
  same("keys", map.size(space{}), n);
}

TEST_CASE("functions of the user's are called with keys of the map alone") {
  calls_functions_with_its_keys<karpos::hash_map<u32, u32, space, hash_of_own, equal_of_own>>(
      "hash_map");
  calls_functions_with_its_keys<karpos::hopscotch_map<u32, u32, space, hash_of_own, equal_of_own>>(
      "hopscotch_map");
}

}  // namespace

/// Checks that bulk calls read the elements of an atomic view, which are proxies, as keys, and
/// refuse the sentinels among them.
template <class Map>
void accepts_an_atomic_view(std::string const& name) {
  u32 const sentinel = ~u32(0);
  auto const plain = to_space(std::vector<u32>{1, sentinel, 2, sentinel, 1});
  Kokkos::View<u32*, space, Kokkos::MemoryTraits<Kokkos::Atomic>> const keys = plain;
  Map map;
  if constexpr (requires { map.build(space{}, keys, keys); }) {
    map = Map(space{}, to_space(std::vector<u32>{7}), to_space(std::vector<u32>{7}),
              {.layout = karpos::cuckoo_layout::dense, .capacity = 100});
  } else {
    map = Map(space{}, 100);
  }
  throws<std::invalid_argument>([&] { map.insert(space{}, keys, keys); }, "2 of 5 keys");
  same(name + ": count", map.count(space{}, keys), 3);
  view<u32> const out("out", 5);
  map.find(space{}, keys, out, 9u);
  holds(name + ": found", to_host(out) == std::vector<u32>{1, 9, 2, 9, 1});
  Kokkos::View<u32*, space, Kokkos::MemoryTraits<Kokkos::Atomic>> const stored =
      to_space(std::vector<u32>{1, 2});
  Kokkos::View<u32*, space, Kokkos::MemoryTraits<Kokkos::Atomic>> const values =
      to_space(std::vector<u32>{30, 40});
  if constexpr (requires { map.insert_or_assign(space{}, stored, values); }) {
    map.insert_or_assign(space{}, stored, values);
    map.find(space{}, keys, out, 9u);
    holds(name + ": assigned", to_host(out) == std::vector<u32>{30, 9, 40, 9, 30});
    map.insert_or_apply(space{}, stored, values, karpos::plus{});
    map.find(space{}, keys, out, 9u);
    holds(name + ": added", to_host(out) == std::vector<u32>{60, 9, 80, 9, 60});
  }
  if constexpr (requires { map.erase(space{}, keys); })
    same(name + ": erased", map.erase(space{}, keys), 2);
}

TEST_CASE("keys in an atomic view") {
  accepts_an_atomic_view<karpos::hash_map<u32, u32, space>>("hash_map");
  accepts_an_atomic_view<karpos::cuckoo_map<u32, u32, space>>("cuckoo_map");
#if KARPOS_FULL_TESTS
  accepts_an_atomic_view<karpos::hopscotch_map<u32, u32, space>>("hopscotch_map");
#endif
}

namespace {

/// Finds or inserts key i with the value i, and records the stored value.
struct name_by_first {
  view<u32> keys, out;
  template <class Ref>
  KOKKOS_FUNCTION auto operator()(Ref const& ref, u64 i) const {
    auto const r = ref.find_or_insert(keys(i), static_cast<u32>(i));
    if (r.outcome != karpos::outcome::full) out(i) = r.value;
    return r;
  }
};
/// Inserts three keys of its own, so that more come than the table expects.
struct insert_three {
  template <class Ref>
  KOKKOS_FUNCTION karpos::outcome operator()(Ref const& ref, u64 i) const {
    for (u32 k = 0; k < 3; ++k) {
      auto const o = ref.insert(3 * static_cast<u32>(i) + k);
      if (o == karpos::outcome::full) return o;
    }
    return karpos::outcome::existing;
  }
};

template <class Map>
void places_all(std::size_t n, std::size_t different, u64 max_keys) {
  std::vector<u32> keys = unique_keys<u32>(different);
  for (std::size_t i = different; i < n; ++i) keys.push_back(keys[i * i % different]);
  Map map(space{}, max_keys, {.growth = growth::automatic});
  view<u32> const out("out", n);
  u64 const repeated =
      karpos::for_each_until_placed(space{}, map, n, name_by_first{to_space(keys), out});
  std::string const what = std::to_string(n) + " rows of " + std::to_string(different) + " keys";
  same(what + ": size", map.size(space{}), different);
  holds(what + ": slots", map.capacity() <= 16 * Kokkos::max<u64>(different, max_keys) + 64);
  holds(what + ": repeated", repeated < 40 * n + 1);
  auto const names = to_host(out);
  bool right = true;
  std::vector<u32> name(different);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t const of = i < different ? i : i * i % different;
    right = right && names[i] < n && keys[names[i]] == keys[i];
    if (i < different)
      name[of] = names[i];
    else
      right = right && name[of] == names[i];
  }
  holds(what + ": names", right);
}

}  // namespace

TEST_CASE("kernels that find or insert into a table that grows place every index") {
  for (u64 const max_keys : {1u, 500u, 40'000u})
    for (auto const& [n, different] :
         {std::pair{1u, 1u}, {3000u, 20u}, {30'000u, 30'000u}, {40'000u, 9'000u}}) {
      places_all<karpos::hash_map<u32, u32, space>>(n, different, max_keys);
      places_all<karpos::hopscotch_map<u32, u32, space>>(n, different, max_keys);
    }
  karpos::hash_set<u32, space> set(space{}, 10, {.growth = growth::automatic});
  same("nothing to place", karpos::for_each_until_placed(space{}, set, 0, insert_three{}), 0);
  u64 const repeated = karpos::for_each_until_placed(space{}, set, 10'000, insert_three{});
  same("several keys each", set.size(space{}), 30'000);
  holds("some are placed in a larger table", repeated > 0);
  karpos::hash_map<u32, u32, space> fixed(space{}, 100);
  u64 const slots = fixed.capacity();
  auto const keys = to_space(unique_keys<u32>(slots + 7));
  view<u32> const out("out", slots + 7);
  throws<karpos::capacity_error>(
      [&] {
        karpos::for_each_until_placed(space{}, fixed, slots + 7, name_by_first{keys, out});
      },
      "karpos::for_each_until_placed", "full");
  holds("a table that does not grow keeps what was placed",
        fixed.size(space{}) > 100 && fixed.capacity() == slots);
}
