// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations of every map on all of its contents: visits that change or reduce values, erase_if,
/// find_or_insert, counts, host mirrors.
#include <karpos/cuckoo_map.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hopscotch_map.hpp>
#include <map>
#include <utility>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

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

template <class Map>
std::map<typename Map::key_type, typename Map::mapped_type> contents(Map const& map, u64 slots) {
  view<typename Map::key_type> const keys("keys", slots);
  view<typename Map::mapped_type> const values("values", slots);
  u64 const n = map.retrieve_all(space{}, keys, values);
  auto const k = to_host(keys, n);
  auto const v = to_host(values, n);
  std::map<typename Map::key_type, typename Map::mapped_type> all;
  for (u64 i = 0; i < n; ++i) all.emplace(k[i], v[i]);
  same("each key is retrieved once", all.size(), n);
  return all;
}

struct triple_odd_ones {
  template <class Key, class T>
  KOKKOS_FUNCTION void operator()(Key key, T& value) const {
    if (key % 2 == 1) value = static_cast<T>(3 * value);
  }
};
struct only_reads {
  view<u64> sum;
  template <class Key, class T>
  KOKKOS_FUNCTION void operator()(Key, T const& value) const {
    Kokkos::atomic_add(&sum(0), static_cast<u64>(value));
  }
};
struct add_value {
  template <class Key, class T>
  KOKKOS_FUNCTION void operator()(Key, T value, u64& partial) const {
    partial += static_cast<u64>(value);
  }
};
struct largest_key {
  template <class Key, class T>
  KOKKOS_FUNCTION void operator()(Key key, T, Key& partial) const {
    partial = Kokkos::max(partial, key);
  }
};

/// Returns n pairs of keys and values, in views and in an oracle.
template <class Key, class T>
struct pairs {
  explicit pairs(u64 n) : keys(unique_keys<Key>(2 * n)), values(n) {
    others.assign(keys.begin() + static_cast<std::ptrdiff_t>(n), keys.end());
    keys.resize(n);
    for (u64 i = 0; i < n; ++i) {
      values[i] = static_cast<T>(i % 1000);
      expected.emplace(keys[i], values[i]);
    }
  }
  std::vector<Key> keys, others;
  std::vector<T> values;
  std::map<Key, T> expected;
};

template <class Map>
void visits_and_reduces(Map& map) {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  pairs<Key, T> p(1500);
  u64 const slots = 4 * 1500;
  map.for_each(space{}, triple_odd_ones{});
  for (auto& [key, value] : p.expected)
    if (key % 2 == 1) value = static_cast<T>(3 * value);
  holds("values that a visit changes are stored", contents(map, slots) == p.expected);

  u64 total = 0, expected_total = 0;
  map.reduce(space{}, add_value{}, Kokkos::Sum<u64>(total));
  for (auto const& [key, value] : p.expected) expected_total += static_cast<u64>(value);
  same("a sum over the values", total, expected_total);
  Key largest = 0;
  map.reduce(space{}, largest_key{}, Kokkos::Max<Key>(largest));
  holds("the largest key", largest == p.expected.rbegin()->first);
  view<u64> const sum("sum", 1);
  std::as_const(map).for_each(space{}, only_reads{sum});
  same("a map that is const is visited", to_host(sum)[0], expected_total);

  std::vector<Key> queries = p.keys;
  queries.insert(queries.end(), p.others.begin(), p.others.end());
  queries.push_back(std::numeric_limits<Key>::max());  // a sentinel: not stored
  same("count", map.count(space{}, to_space(queries)), p.keys.size());
  holds("empty", !map.empty(space{}));

  auto const mirror = create_host_mirror(space{}, map);
  std::map<Key, T> seen;
  u64 n = 0;
  for (auto const& [key, value] : mirror) {
    seen.emplace(key, value);
    ++n;
  }
  holds("a mirror is iterated over", seen == p.expected && n == seen.size());
  u64 wrong = 0;
  for (auto const& [key, value] : p.expected)
    wrong += !(mirror.find(key).present && *mirror.find(key) == value && mirror.contains(key));
  for (Key const key : p.others) wrong += mirror.find(key).present || mirror.contains(key);
  same("one key at a time on the host", wrong, 0);
}

template <class Map>
Map made(u64 max_keys) {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  pairs<Key, T> const p(1500);
  Map map(space{}, max_keys);
  map.insert(space{}, to_space(p.keys), to_space(p.values));
  return map;
}

TEST_CASE("visits that change or reduce, counts and mirrors") {
  auto m = made<karpos::hash_map<u32, u32, space>>(1500);
  visits_and_reduces(m);
  auto wide = made<karpos::hash_map<u64, u64, space>>(1500);
  visits_and_reduces(wide);
  auto mixed = made<karpos::hash_map<u32, u64, space>>(1500);
  visits_and_reduces(mixed);
  auto h = made<karpos::hopscotch_map<u32, u32, space>>(1500);
  visits_and_reduces(h);
  auto hw = made<karpos::hopscotch_map<u64, u64, space>>(1500);
  visits_and_reduces(hw);
}

TEST_CASE("visits of both layouts of cuckoo maps") {
  pairs<u32, u32> const p(1500);
  for (auto const layout : {karpos::cuckoo_layout::two_level, karpos::cuckoo_layout::dense}) {
    karpos::cuckoo_map<u32, u32, space> map(space{}, to_space(p.keys), to_space(p.values),
                                            {.layout = layout});
    visits_and_reduces(map);
  }
}

struct in_upper_half {
  KOKKOS_FUNCTION bool operator()(u64, u64 value) const { return value >= 500; }
};

template <class Map>
void erases_by_predicate() {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  pairs<Key, T> p(1500);
  auto map = made<Map>(1500);
  u64 const erased = std::erase_if(p.expected, [](auto const& kv) { return kv.second >= 500; });
  same("erase_if says how many", map.erase_if(space{}, in_upper_half{}), erased);
  holds("erase_if leaves the others", contents(map, map.capacity()) == p.expected);
  view<u64> const sum("sum", 1);
  u64 expected_sum = 0;
  for (auto const& [key, value] : p.expected) expected_sum += static_cast<u64>(value);
  std::as_const(map).for_each(space{}, only_reads{sum});
  same("erased keys are not visited", to_host(sum)[0], expected_sum);
  same("none is left to erase", map.erase_if(space{}, in_upper_half{}), 0);
  double const load = static_cast<double>(p.expected.size()) / static_cast<double>(map.capacity());
  holds("load_factor", map.load_factor(space{}) == load);
  // As many other keys as were erased fit again, round after round.
  for (int round = 0; round < 20; ++round) {
    auto const others = unique_keys<Key>(erased, 7);
    auto const r = map.insert(space{}, to_space(others), T(999));
    same("others take their place", r.inserted, erased);
    same("and are erased", map.erase_if(space{}, in_upper_half{}), erased);
  }
}

/// A merge that is not commutative, so that it shows what is merged into what.
struct twice_and_new {
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& stored, T const& value) const {
    return static_cast<T>(2 * stored + value);
  }
};
template <class Map>
void merges_into_what_is_stored() {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  Map map(space{}, 10);
  auto const key = to_space(std::vector<Key>{5});
  view<T> const out("out", 1);
  for (T const value : {T(1), T(10), T(100)})
    map.insert_or_apply(space{}, key, value, twice_and_new{});
  map.find(space{}, key, out, T(0));
  same("op(stored, value)", static_cast<u64>(to_host(out)[0]), 124);
}
TEST_CASE("op takes the stored value first") {
  merges_into_what_is_stored<karpos::hash_map<u32, u32, space>>();
  merges_into_what_is_stored<karpos::hash_map<u64, u64, space>>();
  merges_into_what_is_stored<karpos::hopscotch_map<u32, u32, space>>();
  merges_into_what_is_stored<karpos::hopscotch_map<u64, u64, space>>();
}

TEST_CASE("erase_if") {
  erases_by_predicate<karpos::hash_map<u32, u32, space>>();
  erases_by_predicate<karpos::hash_map<u64, u64, space>>();
  erases_by_predicate<karpos::hopscotch_map<u32, u32, space>>();
  erases_by_predicate<karpos::hopscotch_map<u64, u64, space>>();
}

template <class Map>
void finds_or_inserts_in_bulk() {
  std::vector<u32> const keys{1, 2, 3, 4, 4}, first{10, 20}, more{11, 21, 31, 41, 41};
  Map map(space{}, 10);
  map.insert(space{}, to_space(std::vector<u32>{1, 2}), to_space(first));
  view<u32> const out("out", 5);
  auto const r = map.find_or_insert(space{}, to_space(keys), to_space(more), out);
  holds("the report", r == karpos::insert_report{2, 3, 0, 0});
  holds("what is stored", to_host(out) == std::vector<u32>{10, 20, 31, 41, 41});
}

/// Offers the same few keys from all threads, each with a value of its own.
template <class Ref>
struct find_or_insert_all {
  Ref map;
  view<u32> answers, inserted;
  u32 keys;
  KOKKOS_FUNCTION void operator()(int i) const {
    u32 const key = static_cast<u32>(i) % keys;
    auto const r = map.find_or_insert(key, static_cast<u32>(i));
    answers(i) = r.value;
    if (r.outcome == karpos::outcome::inserted) Kokkos::atomic_add(&inserted(key), 1u);
  }
};
template <class Map>
void finds_or_inserts_in_kernels() {
  u32 const keys = 50;
  int const threads = 20000;
  Map map(space{}, keys);
  view<u32> const answers("answers", threads), inserted("inserted", keys);
  Kokkos::parallel_for(
      "karpos_test::find_or_insert", Kokkos::RangePolicy<space>(0, threads),
      find_or_insert_all<typename Map::ref_type>{map.ref(), answers, inserted, keys});
  holds("each key is inserted once", to_host(inserted) == std::vector<u32>(keys, 1));
  auto const stored = contents(map, map.capacity());
  auto const got = to_host(answers);
  u64 wrong = 0;
  for (u32 i = 0; i < threads; ++i) wrong += got[i] != stored.at(i % keys);
  same("all are told the value that is stored", wrong, 0);
}

/// Offers one more key to a full map.
template <class Ref>
struct find_or_insert_one {
  Ref map;
  view<u32> outcome;
  KOKKOS_FUNCTION void operator()(int) const {
    outcome(0) = static_cast<u32>(map.find_or_insert(77777u, 1u).outcome);
  }
};
TEST_CASE("find_or_insert") {
  finds_or_inserts_in_bulk<karpos::hash_map<u32, u32, space>>();
  finds_or_inserts_in_bulk<karpos::hopscotch_map<u32, u32, space>>();
  finds_or_inserts_in_kernels<karpos::hash_map<u32, u32, space>>();
  finds_or_inserts_in_kernels<karpos::hopscotch_map<u32, u32, space>>();

  karpos::hash_map<u32, u32, space> map(space{}, 10);
  auto const all = to_space(unique_keys<u32>(100));
  map.insert(space{}, all, 1u);  // fills every slot
  view<u32> const outcome("outcome", 1);
  Kokkos::parallel_for(
      "karpos_test::query", Kokkos::RangePolicy<space>(0, 1),
      find_or_insert_one<karpos::hash_map<u32, u32, space>::ref_type>{map.ref(), outcome});
  same("full", to_host(outcome)[0], static_cast<u64>(karpos::outcome::full));
  view<u32> const out("out", 1);
  map.find_or_insert(space{}, to_space(std::vector<u32>{77777u}), 5u, out, 9u);
  same("a rejected key gets `missing`", to_host(out)[0], 9);
}
TEST_CASE("find_or_insert: an output that overlaps the keys is refused before anything changes") {
  karpos::hash_map<u32, u32, space> map(space{}, 100);
  auto const keys = to_space(unique_keys<u32>(100));
  auto const queries = Kokkos::subview(keys, std::pair<u64, u64>(0, 99)),
             out = Kokkos::subview(keys, std::pair<u64, u64>(1, 100));
  throws<std::invalid_argument>([&] { map.find_or_insert(space{}, queries, 1u, out); },
                                "hash_map::find_or_insert", "the output overlaps");
  CHECK(map.size() == 0);
  auto const before = to_host(keys);
  auto const report = map.find_or_insert(space{}, keys, 7u, keys);
  same("values in place of keys: inserted", report.inserted, before.size());
  CHECK(to_host(keys) == std::vector<u32>(before.size(), 7));
}

}  // namespace
