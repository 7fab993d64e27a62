// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps that live long: erased keys leave slots for new ones, in bulk, with every way of inserting.
#include <karpos/hash_map.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/map_operation.hpp>
#include <limits>

#include "conformance/limits_suite.hpp"

namespace {

using karpos_test::part;
using karpos_test::same;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using karpos::insert_report;

/// Erases all keys of a full map and inserts others, repeatedly.
template <class Key, class T>
void replaces_keys_repeatedly(u64 max_keys, double load, int rounds) {
  typename karpos::hash_map<Key, T, space>::options o;
  o.load = load;
  karpos::hash_map<Key, T, space> map(space{}, max_keys, o);
  auto const keys = unique_keys<Key>(2 * max_keys);
  auto const even = to_space(part(keys, 0, max_keys)),
             odd = to_space(part(keys, max_keys, 2 * max_keys));
  view<T> const values("values", max_keys);
  Kokkos::deep_copy(values, T(5));
  map.insert(space{}, even, values);
  u64 wrong = 0;
  for (int r = 0; r < rounds; ++r) {
    auto const& out = r % 2 == 0 ? even : odd;
    auto const& in = r % 2 == 0 ? odd : even;
    wrong += map.erase(space{}, out) != max_keys;
    wrong += !(map.insert(space{}, in, values) == insert_report{max_keys, 0, 0, 0});
  }
  INFO("max_keys = ", max_keys, ", load = ", load);
  CHECK(wrong == 0);
  CHECK(map.size(space{}) == max_keys);
  auto const& last = rounds % 2 == 0 ? even : odd;
  view<bool> const there("there", max_keys);
  map.contains(space{}, last, there);
  u64 found = 0;
  auto const h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, there);
  for (u64 i = 0; i < max_keys; ++i) found += h(i);
  CHECK(found == max_keys);
}

TEST_CASE("erase all, insert others: every key is taken, round after round") {
  replaces_keys_repeatedly<u32, u32>(100, 0.8, 10000);
  replaces_keys_repeatedly<u32, u32>(100000, 0.8, 6);
  replaces_keys_repeatedly<u64, u64>(1000, 0.98, 40);
  replaces_keys_repeatedly<u32, u32>(1, 0.5, 100);
}

/// Fills every slot of a table, and erases every key, by kernels that the host does not see.
struct insert_and_erase {
  karpos::hash_map<u32, u32, space>::ref_type map;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(int i) const {
    map.insert(keys(i), 1);
    map.erase(keys(i));
  }
};
void fill_with_tombstones(karpos::hash_map<u32, u32, space>& map, view<u32> const& keys) {
  Kokkos::parallel_for("karpos_test::churn",
                       Kokkos::RangePolicy<space>(0, static_cast<int>(keys.extent(0))),
                       insert_and_erase{map.ref(), keys});
  space{}.fence();
}

TEST_CASE("tombstones that kernels left are in no insertion's way") {
  constexpr u64 n = 1000;
  auto const keys = unique_keys<u32>(22 * n);
  auto const old = to_space(part(keys, 2 * n, 22 * n));
  auto const odd_ones = part(keys, 0, n);
  // Each key twice in one call: an insertion, and a merge of a key that was rejected at first.
  auto twice = odd_ones;
  twice.insert(twice.end(), odd_ones.begin(), odd_ones.end());
  auto const in = to_space(odd_ones), twice_in = to_space(twice);
  for (int way = 0; way < 3; ++way) {
    INFO("way ", way);
    karpos::hash_map<u32, u32, space> map(space{}, n);
    u64 const slots = map.capacity();
    fill_with_tombstones(map, old);
    CHECK(map.tombstones(space{}) > slots * 9 / 10);
    CHECK(map.size(space{}) == 0);
    auto const r = way == 0   ? map.insert(space{}, twice_in, 3u)
                   : way == 1 ? map.insert_or_assign(space{}, twice_in, 3u)
                              : map.insert_or_apply(space{}, twice_in, 3u, karpos::plus{});
    CHECK(bool(r == insert_report{n, n, 0, 0}));
    view<u32> const out("out", n);
    map.find(space{}, in, out, 0u);
    CHECK(bool(to_host(out) == std::vector<u32>(n, way == 2 ? 6u : 3u)));
    CHECK(map.tombstones(space{}) == 0);
    CHECK(map.capacity() == slots);
  }
}

TEST_CASE("a merge into a map that is full of tombstones merges each value once") {
  constexpr u64 n = 500;
  auto const keys = unique_keys<u32>(20 * n);
  karpos::hash_map<u32, u32, space> map(space{}, n);
  auto const mine = to_space(part(keys, 0, n)), first = to_space(part(keys, 0, n / 2));
  map.insert(space{}, first, 10u);
  fill_with_tombstones(map, to_space(part(keys, n, 20 * n)));
  // A few keys at first, so that the tombstones are not counted: new keys find no slot.
  auto const few = to_space(part(keys, n / 2 - 10, n / 2 + 10));
  CHECK(bool(map.insert_or_apply(space{}, few, 1u, karpos::plus{}) == insert_report{10, 10, 0, 0}));
  CHECK(map.tombstones(space{}) == 0);
  auto const r = map.insert_or_apply(space{}, mine, 1u, karpos::plus{});
  CHECK(bool(r == insert_report{n / 2 - 10, n / 2 + 10, 0, 0}));
  view<u32> const out("out", n);
  map.find(space{}, mine, out, 0u);
  std::vector<u32> expected(n, 1u);
  for (u64 i = 0; i < n / 2 + 10; ++i) expected[i] = i < n / 2 - 10 ? 11u : i < n / 2 ? 12u : 2u;
  CHECK(bool(to_host(out) == expected));
}

TEST_CASE("compact gives the slots back and leaves keys, values and refs as they are") {
  constexpr u64 n = 1000;
  auto const keys = unique_keys<u64>(n);
  karpos::hash_map<u64, u64, space> map(space{}, n);
  map.insert(space{}, to_space(keys), u64(9));
  CHECK(map.erase(space{}, to_space(part(keys, 0, n / 2))) == n / 2);
  CHECK(map.tombstones(space{}) == n / 2);
  auto const before = map.frozen_ref();
  map.compact(space{});
  CHECK(map.tombstones(space{}) == 0);
  CHECK(map.size(space{}) == n / 2);
  u64 hits = 0;
  auto const queries = to_space(keys);
  Kokkos::parallel_reduce(
      "karpos_test::hits", Kokkos::RangePolicy<space>(0, static_cast<int>(n)),
      KOKKOS_LAMBDA(int i, u64& sum) { sum += before.find(queries(i)).value_or(0) == 9; }, hits);
  CHECK(hits == n / 2);
  map.clear(space{});
  CHECK(map.tombstones(space{}) == 0);
}

TEST_CASE("sets as well, and a copy knows what it has to compact") {
  constexpr u64 n = 300;
  auto const keys = unique_keys<u64>(3 * n);
  karpos::hash_set<u64, space> set(space{}, n), copy(space{}, n);
  auto const a = to_space(part(keys, 0, n)), b = to_space(part(keys, n, 2 * n)),
             c = to_space(part(keys, 2 * n, 3 * n));
  set.insert(space{}, a);
  set.erase(space{}, a);
  deep_copy(space{}, copy, set);
  for (auto* s : {&set, &copy}) {
    CHECK(bool(s->insert(space{}, b) == insert_report{n, 0, 0, 0}));
    s->erase(space{}, b);
    CHECK(bool(s->insert(space{}, c) == insert_report{n, 0, 0, 0}));
    CHECK(s->size(space{}) == n);
  }
}

template <class Float>
void zeros_and_nans() {
  karpos::hash_map<Float, u32, space> map(space{}, 100);
  karpos::hopscotch_map<Float, u32, space> hop(space{}, 100);
  Float const nan = std::numeric_limits<Float>::quiet_NaN();
  auto const keys = to_space(std::vector<Float>{Float(0), Float(-0.0), nan, -nan, Float(1)});
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(bool(map.insert(space{}, keys, 1u) ==
               insert_report{pass == 0 ? 3u : 0u, pass == 0 ? 2u : 5u, 0, 0}));
    CHECK(bool(hop.insert(space{}, keys, 1u) ==
               insert_report{pass == 0 ? 3u : 0u, pass == 0 ? 2u : 5u, 0, 0}));
  }
  CHECK(map.erase(space{}, to_space(std::vector<Float>{nan, Float(-0.0)})) == 2);
  CHECK(map.size(space{}) == 1);
}
TEST_CASE("0.0 and -0.0 are one key, and so is every NaN") {
  zeros_and_nans<float>();
#if KARPOS_FULL_TESTS
  zeros_and_nans<double>();
#endif
}

/// Counts the operations of a ref that answer wrongly for a key equal to a sentinel.
template <class Map>
struct look_up_sentinel {
  typename Map::ref_type map;
  view<u32> answers;
  KOKKOS_FUNCTION void operator()(int) const {
    for (u32 s = 0; s < 2; ++s) {
      u32 const key = ~u32(0) - s;
      answers(0) += map.insert(key, 1) != karpos::outcome::invalid;
      answers(0) += map.insert_or_assign(key, 1) != karpos::outcome::invalid;
      answers(0) += map.insert_or_apply(key, 1, karpos::plus{}) != karpos::outcome::invalid;
      answers(0) += map.contains(key) || map.find(key).present || map.erase(key);
    }
  }
};
template <class Map>
void sentinels_are_no_success() {
  Map map(space{}, 100);
  view<u32> const answers("answers", 1);
  Kokkos::parallel_for("karpos_test::sentinel", Kokkos::RangePolicy<space>(0, 1),
                       look_up_sentinel<Map>{map.ref(), answers});
  CHECK(to_host(answers)[0] == 0);
  CHECK(map.size(space{}) == 0);
}
#if !defined(KARPOS_CONTRACTS)
TEST_CASE("a key equal to a sentinel is no success in a kernel") {
  sentinels_are_no_success<karpos::hash_map<u32, u32, space>>();
  sentinels_are_no_success<karpos::hopscotch_map<u32, u32, space>>();
}
#endif

/// Runs mixed operations on a few keys that come and go: many more insertions than slots.
template <class Key>
void churn_keys(u64 max_keys, double load, u64 n) {
  using operation = karpos::map_operation<Key, Key>;
  typename karpos::hash_map<Key, Key, space>::options o;
  o.load = load;
  karpos::hash_map<Key, Key, space> map(space{}, max_keys, o);
  auto const keys = unique_keys<Key>(max_keys);
  karpos_test::random_numbers random(9);
  std::vector<operation> operations(n);
  for (operation& op : operations) {
    auto const kind = random.below(5) == 0   ? karpos::map_op::insert
                      : random.below(4) == 0 ? karpos::map_op::erase
                                             : karpos::map_op::find;
    Key const key = keys[random.below(max_keys)];
    op = {kind, key, key};
  }
  view<karpos::map_result<Key>> const results("results", n);
  map.apply(space{}, to_space(operations), results);
  auto const r = to_host(results);
  u64 full = 0, inserted = 0, erased = 0, wrong = 0;
  for (u64 i = 0; i < n; ++i) {
    full += r[i].outcome == karpos::outcome::full;
    inserted += r[i].outcome == karpos::outcome::inserted;
    erased += r[i].outcome == karpos::outcome::erased;
    wrong += r[i].outcome == karpos::outcome::found && r[i].value != operations[i].key;
  }
  INFO("max_keys = ", max_keys, ", load = ", load);
  CHECK(full == 0);
  CHECK(wrong == 0);
  CHECK(inserted > 4 * map.capacity());
  CHECK(map.size(space{}) == inserted - erased);
}

TEST_CASE("apply: tombstones that kernels left are in no insertion's way, nor in a copy") {
  constexpr u64 n = 1000;
  auto const keys = unique_keys<u32>(21 * n);
  karpos::hash_map<u32, u32, space> map(space{}, n), copy(space{}, n);
  fill_with_tombstones(map, to_space(part(keys, n, 21 * n)));
  deep_copy(space{}, copy, map);
  std::vector<karpos::map_operation<u32, u32>> operations;
  for (u64 i = 0; i < n; ++i) operations.push_back({karpos::map_op::insert, keys[i], 1u});
  view<karpos::map_result<u32>> const results("results", n);
  for (auto* to : {&map, &copy}) {
    to->apply(space{}, to_space(operations), results);
    u64 inserted = 0;
    for (auto const& r : to_host(results)) inserted += r.outcome == karpos::outcome::inserted;
    CHECK(inserted == n);
    CHECK(to->size(space{}) == n);
  }
}

TEST_CASE("apply: keys that come and go for ever are never refused") {
  churn_keys<u32>(1000, 0.8, 100000);
  churn_keys<u64>(1000, 0.95, 100000);
  churn_keys<u32>(3, 0.5, 2000);
}

}  // namespace
