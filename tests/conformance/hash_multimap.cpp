// SPDX-License-Identifier: Apache-2.0
/// \file
/// A hash_multimap answers as std::unordered_multimap does, for any multiplicity of keys and any
/// number of insertions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <karpos/hash_multimap.hpp>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::holds;
using karpos_test::permute;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Key, class T, class Number = u32>
using map_of = karpos::hash_multimap<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>,
                                     karpos::double_hashing, Number>;
using small_map = map_of<u32, u32>;

template <class T>
std::vector<T> numbers(std::size_t n, u64 first = 0) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(first + i);
  return values;
}

/// Returns n keys in random order, each about `multiplicity` times.
template <class Key>
std::vector<Key> repeated(std::size_t n, u64 multiplicity, u64 seed = 1) {
  auto const different = unique_keys<Key>((n + multiplicity - 1) / multiplicity);
  random_numbers random(seed);
  std::vector<Key> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = different[i % different.size()];
  for (std::size_t i = n; i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
  return keys;
}

/// A std::unordered_multimap with the map's pairs, and the answers that it implies.
template <class Key, class T>
struct oracle {
  std::unordered_multimap<Key, T> map;
  using matches = std::vector<std::pair<u64, T>>;

  void insert(std::vector<Key> const& keys, std::vector<T> const& values) {
    for (std::size_t i = 0; i < keys.size(); ++i) map.emplace(keys[i], values[i]);
  }
  u64 erase(std::vector<Key> const& keys) {
    u64 n = 0;
    for (Key const& key : keys) n += map.erase(key);
    return n;
  }
  matches of(std::vector<Key> const& queries, T const* missing = nullptr) const {
    matches all;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      auto const [first, last] = map.equal_range(queries[i]);
      for (auto at = first; at != last; ++at) all.emplace_back(i, at->second);
      if (first == last && missing != nullptr) all.emplace_back(i, *missing);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  std::vector<std::pair<Key, T>> pairs() const {
    std::vector<std::pair<Key, T>> all(map.begin(), map.end());
    std::sort(all.begin(), all.end());
    return all;
  }
};

template <class A, class B>
std::vector<std::pair<A, B>> zipped(std::vector<A> const& a, std::vector<B> const& b) {
  std::vector<std::pair<A, B>> both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) both[i] = {a[i], b[i]};
  std::sort(both.begin(), both.end());
  return both;
}

/// Sums, for each query, the calls of a visitor and the values passed to it.
template <class T>
struct tally_matches {
  view<u64> calls;
  view<double> sums;
  KOKKOS_FUNCTION void operator()(u64 query, T const& value) const {
    Kokkos::atomic_add(&calls(query), u64(1));
    Kokkos::atomic_add(&sums(query), static_cast<double>(value));
  }
};
/// Computes these sums with a ref, query by query, and counts the ref's contradictory answers.
template <class Ref, class Key, class T>
struct query_ref {
  Ref ref;
  view<Key> queries;
  view<u64> calls;
  view<double> sums;
  KOKKOS_FUNCTION void operator()(u64 i, u64& wrong) const {
    u64 n = 0, equal_any = 0;
    double sum = 0;
    auto const any = ref.find_any(queries(i));
    ref.for_each_match(queries(i), [&](T const& value) {
      ++n;
      sum += static_cast<double>(value);
      equal_any += any.present && any.value == value;
    });
    calls(i) = n;
    sums(i) = sum;
    wrong += ref.count(queries(i)) != n || ref.contains(queries(i)) != (n > 0);
    wrong += any.present != (n > 0) || (n > 0) != (equal_any > 0);
  }
};
/// Computes these sums with tiles.
template <int W, class Ref, class Key, class T>
struct query_by_tiles {
  Ref ref;
  view<Key> queries;
  view<u64> calls;
  view<double> sums;
  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    ref.for_each_match(t, queries(i), [&](T const& value) {
      Kokkos::atomic_add(&calls(i), u64(1));
      Kokkos::atomic_add(&sums(i), static_cast<double>(value));
    });
    // A second answer, by all lanes, must agree; a contradiction makes `calls` wrong.
    u64 const n = ref.count(t, queries(i)), there = ref.contains(t, queries(i)) ? 1 : 0;
    t.once([&] {
      if ((n > 0) != (there > 0)) Kokkos::atomic_add(&calls(i), u64(1) << 40);
      Kokkos::atomic_add(&sums(i), 0.0);
      return 0;
    });
  }
};

template <class T>
void same_tallies(std::string const& what, std::vector<std::pair<u64, T>> const& expected,
                  view<u64> const& calls, view<double> const& sums) {
  std::vector<u64> n(calls.extent(0));
  std::vector<double> sum(calls.extent(0));
  for (auto const& [query, value] : expected) {
    ++n[query];
    sum[query] += static_cast<double>(value);  // whole numbers: sums are exact in any order
  }
  holds(what + ": calls", to_host(calls) == n);
  holds(what + ": sums", to_host(sums) == sum);
}

template <class Map, class Key, class T>
void check_kernels(std::string const& what, Map const& map, oracle<Key, T> const& o,
                   std::vector<Key> const& queries) {
  auto const expected = o.of(queries);
  auto const q = to_space(queries);
  u64 const n = queries.size();
  auto const tallies = [&](char const* how, auto const& run) {
    view<u64> const calls("calls", n);
    view<double> const sums("sums", n);
    run(calls, sums);
    space().fence();
    same_tallies(what + how, expected, calls, sums);
  };
  using ref_type = typename Map::frozen_ref_type;
  tallies(", in bulk", [&](auto const& calls, auto const& sums) {
    map.for_each_match(space(), q, tally_matches<T>{calls, sums});
  });
  tallies(", by a ref", [&](auto const& calls, auto const& sums) {
    u64 wrong = 0;
    Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(space(), 0, n),
                            query_ref<ref_type, Key, T>{map.frozen_ref(), q, calls, sums}, wrong);
    same(what + ": answers of a ref that contradict each other", wrong, 0);
  });
  tallies(", by tiles of 4", [&](auto const& calls, auto const& sums) {
    karpos::device::for_each_tile<4>(
        "tiles", space(), n, query_by_tiles<4, ref_type, Key, T>{map.frozen_ref(), q, calls, sums});
  });
  tallies(", by tiles of 32", [&](auto const& calls, auto const& sums) {
    karpos::device::for_each_tile<32>(
        "tiles", space(), n,
        query_by_tiles<32, ref_type, Key, T>{map.frozen_ref(), q, calls, sums});
  });
}

/// Collects the pairs that a visitor is given.
template <class Key, class T>
struct collect_pairs {
  view<Key> keys;
  view<T> values;
  Kokkos::View<u64, space::memory_space> n;
  KOKKOS_FUNCTION void operator()(Key const& key, T const& value) const {
    u64 const i = Kokkos::atomic_fetch_add(&n(), u64(1));
    keys(i) = key;
    values(i) = value;
  }
};

template <class Map, class Key, class T>
void check_contents(std::string const& what, Map const& map, oracle<Key, T> const& o) {
  u64 const n = o.map.size();
  same(what + ": size", map.size(), n);
  holds(what + ": empty", map.empty() == (n == 0));
  view<Key> const keys("keys", n + 1), visited("visited", n + 1);
  view<T> const values("values", n + 1), visited_values("visited", n + 1);
  same(what + ": retrieve_all", map.retrieve_all(space(), keys, values), n);
  holds(what + ": pairs", zipped(to_host(keys, n), to_host(values, n)) == o.pairs());
  Kokkos::View<u64, space::memory_space> const count("count");
  map.for_each(space(), collect_pairs<Key, T>{visited, visited_values, count});
  same(what + ": visits", karpos_test::to_host_scalar(count), n);
  holds(what + ": visited", zipped(to_host(visited, n), to_host(visited_values, n)) == o.pairs());
  std::vector<Key> const all = to_host(keys, n);
  same(what + ": different keys", map.different_keys(space()),
       std::unordered_set<Key>(all.begin(), all.end()).size());
}

template <class Map, class Key, class T>
void check_queries(std::string const& what, Map const& map, oracle<Key, T> const& o,
                   std::vector<Key> const& queries) {
  auto const q = to_space(queries);
  u64 const n = queries.size();
  view<u64> const counts("counts", n);
  view<u32> const narrow("counts", n);
  view<bool> const flags("flags", n);
  view<T> const any("any", n);
  T const missing = static_cast<T>(-7);
  map.count(space(), q, counts);
  map.count(space(), q, narrow);
  map.contains(space(), q, flags);
  map.find_any(space(), q, any, missing);
  auto const h_counts = to_host(counts);
  auto const h_narrow = to_host(narrow);
  auto const h_any = to_host(any);
  auto const h_flags = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), flags);
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) {
    u64 const expected = o.map.count(queries[i]);
    wrong += h_counts[i] != expected || h_narrow[i] != expected || h_flags(i) != (expected > 0);
    auto const [first, last] = o.map.equal_range(queries[i]);
    bool const known =
        std::any_of(first, last, [&](auto const& pair) { return pair.second == h_any[i]; });
    wrong += expected > 0 ? !known : h_any[i] != missing;
  }
  same(what + ": wrong answers", wrong, 0);

  auto const inner = o.of(queries), outer = o.of(queries, &missing);
  same(what + ": retrieve_size", map.retrieve_size(space(), q), inner.size());
  same(what + ": retrieve_outer_size", map.retrieve_outer_size(space(), q), outer.size());
  view<u64> const numbers("numbers", outer.size() + 1);
  view<T> const values("values", outer.size() + 1);
  same(what + ": retrieved", map.retrieve(space(), q, numbers, values), inner.size());
  auto const in_order = to_host(numbers, inner.size());
  holds(what + ": in the order of queries", std::is_sorted(in_order.begin(), in_order.end()));
  holds(what + ": matches", zipped(in_order, to_host(values, inner.size())) == inner);
  same(what + ": outer", map.retrieve_outer(space(), q, numbers, values, missing), outer.size());
  holds(what + ": outer matches",
        zipped(to_host(numbers, outer.size()), to_host(values, outer.size())) == outer);
}

template <class Map, class Key, class T>
void check(std::string const& what, Map const& map, oracle<Key, T> const& o,
           std::vector<Key> const& queries) {
  check_contents(what, map, o);
  check_queries(what, map, o, queries);
  check_kernels(what, map, o, queries);
}

/// Returns some stored keys, and about as many absent ones.
template <class Key>
std::vector<Key> some_queries(std::vector<Key> const& keys, std::size_t most) {
  std::vector<Key> queries;
  std::size_t const step = keys.size() / most + 1;
  for (std::size_t i = 0; i < keys.size(); i += step) queries.push_back(keys[i]);
  auto const others = unique_keys<Key>(queries.size() + 3, 1);
  queries.insert(queries.end(), others.begin(), others.end());
  return queries;
}

/// Inserts pairs in batches, and checks the map after each batch.
template <class Key, class T, class Number>
void inserts_in_batches(std::size_t n, u64 multiplicity, std::size_t batches) {
  std::string const what = std::to_string(n) + " pairs, " + std::to_string(multiplicity) +
                           " a key, " + std::to_string(batches) + " insertions";
  map_of<Key, T, Number> map(space(), n);
  oracle<Key, T> o;
  auto const keys = repeated<Key>(n, multiplicity);
  auto const values = numbers<T>(n, 3);
  for (std::size_t b = 0; b < batches; ++b) {
    auto const first = static_cast<std::ptrdiff_t>(n * b / batches),
               last = static_cast<std::ptrdiff_t>(n * (b + 1) / batches);
    std::vector<Key> const k(keys.begin() + first, keys.begin() + last);
    std::vector<T> const v(values.begin() + first, values.begin() + last);
    auto const r = map.insert(space(), to_space(k), to_space(v));
    holds(what + ": report", r == karpos::insert_report{k.size(), 0, 0, 0});
    o.insert(k, v);
  }
  u64 const most = std::max(u64(1), 100'000 / multiplicity);
  auto const queries = some_queries(keys, std::min(u64(500), most));
  check(what, std::as_const(map), o, queries);
  holds(what + ": nothing was pending", map.consolidate(space()) == karpos::insert_report{});
  same(what + ": blocks of a key", map.longest_chain(), batches == 0 || n == 0 ? 0 : 1);
  check(what + ", consolidated", map, o, queries);
}

template <class Key, class T, class Number>
void answers_as_the_oracle() {
  for (std::size_t n : {0u, 1u, 4u}) inserts_in_batches<Key, T, Number>(n, 2, 1);
  inserts_in_batches<Key, T, Number>(20'000, 1, 1);
  inserts_in_batches<Key, T, Number>(20'000, 8, 3);
  inserts_in_batches<Key, T, Number>(30'000, 64, 1);
  inserts_in_batches<Key, T, Number>(20'000, 700, 5);
  inserts_in_batches<Key, T, Number>(5'000, 5'000, 30);
}

}  // namespace

TEST_CASE("u32 and u32") { answers_as_the_oracle<u32, u32, u32>(); }
#if KARPOS_FULL_TESTS
TEST_CASE("i32 and float") { answers_as_the_oracle<std::int32_t, float, u32>(); }
#endif
TEST_CASE("u64 and double, pair numbers of 64 bits") { answers_as_the_oracle<u64, double, u64>(); }

namespace {
/// A hash and an equality that cannot be copied trivially: keys with the same label are equal.
struct labels {
  view<u32> of_key;
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return of_key(key); }
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return of_key(a) == of_key(b); }
};
}  // namespace

TEST_CASE("a hash and an equality that hold views") {
  constexpr u32 n = 600, different = 200;
  std::vector<u32> label(n), first(different);
  for (u32 i = 0; i < n; ++i) label[i] = i % different;
  for (u32 i = 0; i < different; ++i) first[i] = i;
  labels const f{to_space(label)};
  karpos::hash_multimap<u32, u32, space, labels, labels> map(space(), 2 * n, {}, f, f);
  auto const keys = to_space(numbers<u32>(n)), values = to_space(numbers<u32>(n, 7));
  holds("report", map.insert(space(), keys, values) == karpos::insert_report{n, 0, 0, 0});
  map.insert_async(space(), keys, values);
  holds("pending", map.consolidate(space()) == karpos::insert_report{n, 0, 0, 0});
  view<u32> const counts("counts", different);
  map.count(space(), to_space(first), counts);
  for (u32 const c : to_host(counts)) CHECK(c == 2 * n / different);
  view<u32> const keys_out("keys_out", 2 * n), values_out("values_out", 2 * n);
  same("pairs", map.retrieve_all(space(), keys_out, values_out), 2 * n);
  map.rehash(space(), 3 * n, different);
  same("erased", map.erase(space(), to_space(std::vector<u32>{1, 2})), 4 * n / different);
  same("size", map.size(), 2 * n - 4 * n / different);
}

TEST_CASE("golden: four pairs of two keys") {
  small_map map(space(), 4);
  auto const keys = to_space<u32>({7, 3, 7, 7});
  holds("report", map.insert(space(), keys, to_space<u32>({1, 2, 3, 4})) ==
                      karpos::insert_report{4, 0, 0, 0});
  view<u32> const counts("counts", 4), any("any", 4), query("query", 7), value("value", 7);
  auto const queries = to_space<u32>({3, 5, 7, 3});
  map.count(space(), queries, counts);
  map.find_any(space(), to_space<u32>({3, 5, 3, 5}), any, 99u);
  CHECK(to_host(counts) == std::vector<u32>{1, 0, 3, 1});
  CHECK(to_host(any) == std::vector<u32>{2, 99, 2, 99});
  CHECK(map.retrieve(space(), queries, query, value) == 5);
  CHECK(to_host(query, 5) == std::vector<u32>{0, 2, 2, 2, 3});
  CHECK(to_host(value, 1) == std::vector<u32>{2});
  CHECK(map.retrieve_outer(space(), queries, query, value, 99u) == 6);
  CHECK(to_host(query, 6) == std::vector<u32>{0, 1, 2, 2, 2, 3});
  CHECK(to_host(value)[1] == 99);
  CHECK(map.different_keys(space()) == 2);
}

TEST_CASE("a million values of one key, among others: one block, shared by all who write") {
  constexpr std::size_t n = 1'000'000, others = 1'000;
  std::vector<u32> keys(n + others, 42);
  for (std::size_t i = 0; i < others; ++i) keys[i * 1'001] = static_cast<u32>(100 + i);
  small_map map(space(), keys.size(), others + 1);
  auto const values = numbers<u32>(keys.size());
  map.insert(space(), to_space(keys), to_space(values));
  CHECK(map.longest_chain() == 1);
  auto const queries = to_space<u32>({41, 42, 100, 42, 1'099});
  view<u64> const counts("counts", 5);
  map.count(space(), queries, counts);
  CHECK(to_host(counts) == std::vector<u64>{0, n, 1, n, 1});
  CHECK(map.retrieve_size(space(), queries) == 2 * n + 2);
  view<u32> const query("query", 2 * n + 2), value("value", 2 * n + 2);
  CHECK(map.retrieve(space(), queries, query, value) == 2 * n + 2);
  auto const q = to_host(query), v = to_host(value);
  std::vector<u32> seen(keys.size());
  u64 wrong = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    wrong += q[i] != (i < n ? 1u : i == n ? 2u : i <= 2 * n ? 3u : 4u);
    wrong += keys[v[i]] != (q[i] == 1 || q[i] == 3 ? 42u : q[i] == 2 ? 100u : 1'099u);
    ++seen[v[i]];
  }
  for (std::size_t i = 0; i < keys.size(); ++i) wrong += keys[i] == 42 && seen[i] != 2;
  CHECK(wrong == 0);
  CHECK(map.erase(space(), to_space<u32>({42, 42, 5})) == n);
  CHECK(map.size() == others);
}

TEST_CASE(
    "keys with hundreds of values and one with many more, in memory of the caller's and without") {
  constexpr std::size_t n = 1'200'000, different = 4'000;
  auto keys = repeated<u32>(n, n / different);
  std::vector<u32> queries = unique_keys<u32>(different);
  for (std::size_t i = 0; i < n; i += 4) keys[i] = queries[0];
  auto const values = numbers<u32>(n);
  std::size_t const bytes = small_map::insert_bytes(space(), n);
  for (bool const is_given : {false, true}) {
    view<std::byte> const memory("memory", is_given ? bytes : 0);
    small_map map(space(), n, different);
    holds("report",
          map.insert(space(), to_space(keys), to_space(values), {memory.data(), memory.size()}) ==
              karpos::insert_report{n, 0, 0, 0});
    same("different keys", map.different_keys(space()), different);
    view<u32> const query("query", n), value("value", n);
    same("pairs", map.retrieve(space(), to_space(queries), query, value), n);
    auto const q = to_host(query), v = to_host(value);
    std::vector<bool> seen(n);
    u64 wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      wrong += keys[v[i]] != queries[q[i]] || seen[v[i]];
      seen[v[i]] = true;
    }
    same("pairs that are wrong, or there twice", wrong, 0);
  }
}

TEST_CASE("chains stay short where insertions are alike, and pairs are moved O(1) times each") {
  small_map map(space(), 200'000);
  u64 joined = 0, moved = 0;
  for (u64 b = 0; b < 200; ++b) {
    u64 const before = map.longest_chain();
    std::vector<u32> keys(1'000, 9);
    map.insert(space(), to_space(keys), to_space(numbers<u32>(1'000, b * 1'000)));
    if (map.longest_chain() <= before) {
      ++joined;
      moved += map.size();
    }
  }
  CHECK(joined > 3);
  CHECK(moved < 4 * map.size());
  view<u32> const out("out", 200'000), numbers_out("numbers", 200'000);
  CHECK(map.retrieve(space(), to_space<u32>({9}), numbers_out, out) == 200'000);
  auto all = to_host(out);
  std::sort(all.begin(), all.end());
  CHECK(all == numbers<u32>(200'000));
}

TEST_CASE("erased keys are gone, come back with new values only, and give their memory back") {
  constexpr std::size_t n = 6'000;
  small_map map(space(), n);
  oracle<u32, u32> o;
  auto const keys = repeated<u32>(n, 6);
  map.insert(space(), to_space(keys), to_space(numbers<u32>(n)));
  o.insert(keys, numbers<u32>(n));
  auto const different = unique_keys<u32>(n / 6);
  std::vector<u32> gone(different.begin(), different.begin() + 300);
  gone.insert(gone.end(), different.begin(), different.begin() + 10);  // queried twice
  gone.push_back(~u32(0));                                             // a sentinel
  CHECK(map.erase(space(), to_space(gone)) == o.erase(gone));
  check("erased", map, o, different);
  CHECK(map.erase(space(), to_space(gone)) == 0);
  // The table is full of erased pairs; as many pairs fit as were erased.
  std::vector<u32> again(1'800);
  for (std::size_t i = 0; i < again.size(); ++i) again[i] = different[i % 400];
  CHECK(map.insert(space(), to_space(again), to_space(numbers<u32>(1'800, 50'000))) ==
        karpos::insert_report{1'800, 0, 0, 0});
  o.insert(again, numbers<u32>(1'800, 50'000));
  check("again", map, o, different);
  CHECK(map.insert(space(), to_space<u32>({1, 2}), 5u) == karpos::insert_report{0, 0, 2, 0});
  map.clear(space());
  check("cleared", map, oracle<u32, u32>{}, different);
}

TEST_CASE(
    "pairs and keys that do not fit are rejected and counted; a table that grows takes them") {
  auto const keys = repeated<u32>(1'000, 4);
  small_map fixed(space(), 700);
  CHECK(fixed.insert(space(), to_space(keys), 1u) == karpos::insert_report{700, 0, 300, 0});
  CHECK(fixed.size() == 700);
  small_map few_keys(space(), 100'000, 10);
  auto const r = few_keys.insert(space(), to_space(repeated<u32>(4'000, 4)), 1u);
  CHECK(r.inserted == 4 * few_keys.different_keys(space()));
  CHECK(r.inserted + r.rejected == 4'000);
  CHECK(r.rejected > 3'000);
  CHECK(few_keys.size() == r.inserted);
  // Rejected pairs use memory until it is needed.
  u32 const there = [&] {
    view<u32> const k("keys", r.inserted), v("values", r.inserted);
    few_keys.retrieve_all(space(), k, v);
    return to_host(k)[0];
  }();
  std::vector<u32> const fill(100'000 - r.inserted, there);
  CHECK(few_keys.insert(space(), to_space(fill), 2u) ==
        karpos::insert_report{fill.size(), 0, 0, 0});

  // If a call inserts no pair, it moves no pairs to make space for the next rejected ones.
  small_map nearly_full(space(), 102, 10);
  auto const others = unique_keys<u32>(1'100);
  nearly_full.insert(space(), to_space(std::vector<u32>(others.begin(), others.begin() + 1'000)),
                     1u);
  nearly_full.consolidate(space());
  view<u32> const first("key", 102), values("values", 102);
  nearly_full.retrieve_all(space(), first, values);
  std::vector<u32> const equal((100 - nearly_full.size()) / 2, to_host(first)[0]);
  for (int i = 0; i < 2; ++i) CHECK(nearly_full.insert(space(), to_space(equal), 1u).rejected == 0);
  CHECK(nearly_full.longest_chain() == 3);
  CHECK(nearly_full.insert(space(), to_space(std::vector<u32>(others.end() - 30, others.end())),
                           1u) == karpos::insert_report{0, 0, 30, 0});
  CHECK(nearly_full.longest_chain() == 3);

  small_map grows(space(), 10, {.growth = karpos::growth::automatic});
  oracle<u32, u32> o;
  for (std::size_t n : {7u, 50u, 3'000u}) {
    auto const k = repeated<u32>(n, 3);
    CHECK(grows.insert(space(), to_space(k), to_space(numbers<u32>(n, n))) ==
          karpos::insert_report{n, 0, 0, 0});
    o.insert(k, numbers<u32>(n, n));
  }
  CHECK(grows.max_pairs() >= 3'057);
  check("grown", grows, o, some_queries(repeated<u32>(3'000, 3), 300));
}

namespace {
/// A key with three bytes of padding.
struct padded {
  std::int8_t low;
  std::int32_t high;
};
struct make_padded {
  view<padded> to;
  KOKKOS_FUNCTION void operator()(u64 i) const {
    to(i) = {static_cast<std::int8_t>(i % 100), -static_cast<std::int32_t>(i)};
  }
};
}  // namespace

TEST_CASE("values with padding are found whole") {
  std::size_t const n = 3'000;
  view<padded> const values("values", n), any("any", n);
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(space(), 0, n), make_padded{values});
  auto const keys = to_space(numbers<u32>(n, 5)), queries = to_space(numbers<u32>(n, 6));
  map_of<u32, padded> map(space(), n);
  map.insert(space(), keys, values);
  map.find_any(space(), queries, any, padded{-1, 7});
  auto const found = to_host(any);
  u64 wrong = found[n - 1].low != -1 || found[n - 1].high != 7;
  for (std::size_t i = 0; i + 1 < n; ++i)
    wrong += found[i].low != std::int8_t((i + 1) % 100) || found[i].high != -std::int32_t(i + 1);
  same("wrong values", wrong, 0);
}

TEST_CASE(
    "keys equal to a sentinel are refused, and all others in; lookups say that they are absent") {
  small_map map(space(), 6, {.empty_key = 0u, .erased_key = 1u});
  auto const keys = to_space<u32>({0, 5, 1, 5, ~u32(0), 0});
  throws<std::invalid_argument>([&] { map.insert(space(), keys, 4u); }, "sentinel", "3 of 6",
                                "3 inserted");
  CHECK(map.size() == 3);
  view<u32> const counts("counts", 6), any("any", 6);
  map.count(space(), keys, counts);
  map.find_any(space(), keys, any, 8u);
  CHECK(to_host(counts) == std::vector<u32>{0, 2, 0, 2, 1, 0});
  CHECK(to_host(any) == std::vector<u32>{8, 4, 8, 4, 4, 8});
  CHECK(map.retrieve_size(space(), keys) == 5);
  // Their slots are used again.
  CHECK(map.insert(space(), to_space<u32>({7, 7, 7}), 1u).inserted == 3);
  // No slot is left: sentinels are still told apart from rejected keys.
  throws<std::invalid_argument>([&] { map.insert(space(), keys, 4u); }, "sentinel", "3 of 6",
                                "0 inserted");
  CHECK(map.size() == 6);
}

TEST_CASE("a table that grows does so rather than look for the memory of a few erased pairs") {
  small_map map(space(), 1'000, {.growth = karpos::growth::automatic});
  auto const keys = unique_keys<u32>(1'020);
  map.insert(space(), to_space(std::vector<u32>(keys.begin(), keys.begin() + 999)), 1u);
  u64 moves = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    u64 const before = map.longest_chain();
    CHECK(map.erase(space(), to_space<u32>({keys[i]})) == 1);
    CHECK(map.insert(space(), to_space<u32>({keys[999 + i]}), 2u).inserted == 1);
    moves += map.longest_chain() <= before || before == 1;
  }
  CHECK(map.max_pairs() == 2'000);
  CHECK(moves <= 2);
  CHECK(map.size() == 999);
}

namespace {
/// Inserts pairs, from `first` on, in a kernel.
template <class Ref>
struct insert_pairs {
  Ref ref;
  view<u32> keys;
  u64 first;
  KOKKOS_FUNCTION void operator()(u64 i, u64& full) const {
    full += ref.insert(keys(first + i), static_cast<u32>(first + i)) == karpos::outcome::full;
  }
};
u64 insert_in_kernel(small_map::ref_type const& ref, std::vector<u32> const& keys, u64 first,
                     u64 n) {
  u64 full = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(space(), 0, n),
                          insert_pairs<small_map::ref_type>{ref, to_space(keys), first}, full);
  return full;
}
}  // namespace

TEST_CASE(
    "pairs that kernels insert are found once they are in the table, beside those of bulk calls") {
  constexpr std::size_t n = 4'000;
  auto const keys = repeated<u32>(n, 50);
  auto const values = numbers<u32>(n);
  auto const part = [](auto const& v, std::size_t first, std::size_t last) {
    return std::vector<u32>(v.begin() + static_cast<std::ptrdiff_t>(first),
                            v.begin() + static_cast<std::ptrdiff_t>(last));
  };
  small_map map(space(), n + 100);
  oracle<u32, u32> o;
  auto const ref = map.ref(space(), 1'500);
  CHECK(insert_in_kernel(ref, keys, 0, 500) == 0);
  CHECK(map.size() == 0);
  CHECK(insert_in_kernel(ref, keys, 500, 500) == 0);
  o.insert(part(keys, 0, 1'000), part(values, 0, 1'000));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  CHECK(map.settle(space()) == karpos::insert_report{1'000, 0, 0, 0});  // consolidate's old name
#pragma GCC diagnostic pop
  check("after consolidate", map, o, part(keys, 0, 80));
  // The next bulk insertion inserts them, too; consolidate() still reports them.
  CHECK(insert_in_kernel(map.ref(space(), 1'000), keys, 1'000, 1'000) == 0);
  CHECK(
      map.insert(space(), to_space(part(keys, 2'000, 3'000)), to_space(part(values, 2'000, 3'000)))
          .inserted == 1'000);
  o.insert(part(keys, 1'000, 3'000), part(values, 1'000, 3'000));
  check("after an insertion", map, o, part(keys, 0, 80));
  CHECK(map.consolidate(space()) == karpos::insert_report{1'000, 0, 0, 0});
  // insert_async does not block; a later erasure inserts its pairs.
  map.insert_async(space(), to_space(part(keys, 3'000, n)), to_space(part(values, 3'000, n)));
  o.insert(part(keys, 3'000, n), part(values, 3'000, n));
  auto const some = part(keys, 0, 5);
  CHECK(map.erase(space(), to_space(some)) == o.erase(some));
  check("after an erasure", map, o, part(keys, 0, 80));
}

TEST_CASE("pending pairs that do not fit, into their list or into the table, are counted") {
  small_map map(space(), 20);
  auto const keys = repeated<u32>(40, 2);
  CHECK(insert_in_kernel(map.ref(space(), 10), keys, 0, 16) == 6);
  CHECK(map.consolidate(space()) == karpos::insert_report{10, 0, 6, 0});
  CHECK(insert_in_kernel(map.ref(space(), 16), keys, 0, 16) == 0);
  CHECK(map.consolidate(space()) == karpos::insert_report{10, 0, 6, 0});
  CHECK(map.size() == 20);
  map.insert_async(space(), to_space<u32>({~u32(0), 5}), 1u);
  CHECK(map.consolidate(space()) == karpos::insert_report{0, 0, 1, 1});
  map.clear(space());
  map.insert_async(space(), to_space<u32>({~u32(0), 5}), 1u);
  map.insert_async(space(), to_space<u32>({6}), 1u);
  CHECK(map.consolidate(space()) == karpos::insert_report{2, 0, 0, 1});
  map.ref(space(), 5);
  map.clear(space());
  CHECK(map.consolidate(space()) == karpos::insert_report{});
}

TEST_CASE(
    "capacity for no pairs: what kernels insert nevertheless is inserted, or full and counted") {
  auto const keys = repeated<u32>(8, 2);
  small_map map(space(), 20);
  u64 const full = insert_in_kernel(map.ref(space(), 0), keys, 0, 3);
  CHECK(map.consolidate(space()) == karpos::insert_report{3 - full, 0, full, 0});
  map.ref(space(), 4);
  map.consolidate(space());
  CHECK(insert_in_kernel(map.ref(space(), 0), keys, 0, 2) == 0);
  CHECK(map.consolidate(space()) == karpos::insert_report{2, 0, 0, 0});
  map.insert_async(space(), to_space<u32>({}), to_space<u32>({}));
  CHECK(map.consolidate(space()) == karpos::insert_report{});
}

TEST_CASE(
    "outputs that are too short or too narrow are refused, with what would do, and left alone") {
  small_map map(space(), 100);
  map.insert(space(), to_space(std::vector<u32>(90, 5)), 1u);
  auto const queries = to_space<u32>({5, 6});
  view<u32> const numbers("numbers", 89), values("values", 89), three("three", 3);
  Kokkos::deep_copy(values, 77u);
  throws<std::invalid_argument>([&] { map.retrieve(space(), queries, numbers, values); }, "89",
                                "90 rows");
  throws<std::invalid_argument>([&] { map.retrieve_outer(space(), queries, numbers, values, 0u); },
                                "89", "91 rows");
  throws<std::invalid_argument>([&] { map.retrieve_all(space(), numbers, values); }, "89", "90");
  throws<std::invalid_argument>([&] { map.retrieve_all(space(), three, values); }, "3", "89");
  throws<std::invalid_argument>([&] { map.retrieve(space(), queries, three, values); }, "3", "89");
  throws<std::invalid_argument>([&] { map.count(space(), queries, three); }, "2", "3");
  throws<std::invalid_argument>([&] { map.find_any(space(), queries, three, 0u); }, "2", "3");
  throws<std::invalid_argument>([&] { map.insert(space(), queries, three); }, "2", "3");
  CHECK(to_host(values) == std::vector<u32>(89, 77));
  CHECK(map.size() == 90);
}

TEST_CASE("limits: pair numbers, memory, rehash, tables without memory") {
  throws<std::invalid_argument>([] { small_map(space(), u64(1) << 31, 10); }, "2147483648",
                                "PairNumber = std::uint64_t");
  throws<std::invalid_argument>([] { map_of<u32, u32, u64>(space(), u64(1) << 60, 10); },
                                "1152921504606846976 pairs", "make several tables");
  small_map map(space(), 100);
  map.insert(space(), to_space(repeated<u32>(100, 10)), 1u);
  throws<karpos::capacity_error>([&] { map.rehash(space(), 99, 50); }, "found space for 99",
                                 "max_pairs >= 100");
  throws<karpos::capacity_error>([&] { map.rehash(space(), 100, 9); },
                                 "karpos::hash_multimap::rehash: ", "found space for 9",
                                 "max_keys >= 10");
  CHECK(map.size() == 100);
  CHECK(small_map(space(), 100, {}).max_keys() == map.max_keys());  // {}: the options
  map.rehash(space(), 5'000, 500);
  CHECK(map.max_pairs() == 5'000);
  CHECK(map.insert(space(), to_space(repeated<u32>(4'900, 10)), 1u).inserted == 4'900);
  small_map empty;
  CHECK(empty.size() == 0);
  auto const keys = to_space<u32>({1});
  throws<std::logic_error>([&] { empty.insert(space(), keys, 1u); }, "no memory");
  throws<std::logic_error>([&] { empty.retrieve_size(space(), keys); }, "no memory");
  throws<std::logic_error>([&] { empty.consolidate(space()); }, "no memory");
  throws<std::logic_error>([&] { (void)empty.frozen_ref(); }, "hash_multimap::frozen_ref");
  small_map taken(std::move(map));
  CHECK(taken.size() == 5'000);
  CHECK(map.size() == 0);
  map = std::move(taken);
  CHECK(map.size() == 5'000);
  CHECK(small_map::bytes_for(1'000, 100) ==
        8'000 + karpos::hash_map<u32, u32, space>::bytes_for(100));
  Kokkos::View<u32*, space::memory_space, Kokkos::MemoryUnmanaged> const many(nullptr, u64(1)
                                                                                           << 31);
  throws<std::invalid_argument>([&] { map.erase(space(), many); }, "2147483648 of at most",
                                "erase a part");
  if (karpos_test::dies_without_memory) {
    MESSAGE("skipped: the address sanitizer ends the program when memory runs out");
    return;
  }
  // Some machines promise more memory than they have.
  karpos_test::memory_limit const limit(karpos_test::data_bytes() + (rlim_t(1) << 30));
  throws<karpos::allocation_error>([] { map_of<u32, u32, u64>(space(), u64(1) << 39, 10); },
                                   "out of memory", "pairs");
  throws<karpos::allocation_error>([&] { map.ref(space(), u64(1) << 44); }, "out of memory");
}

TEST_CASE("an insertion without memory to group its pairs changes nothing") {
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible;
  if (!on_host || karpos_test::dies_without_memory) {
    MESSAGE("skipped: memory of " KARPOS_TEST_SPACE_NAME " cannot be bounded here");
    return;
  }
  constexpr std::size_t n = 4'000'000;
  small_map map(space(), n, 1'000);
  auto const keys = to_space(repeated<u32>(n, n / 1'000));
  map.insert(space(), to_space<u32>({5, 5}), 1u);
  {
    karpos_test::memory_limit const limit(karpos_test::data_bytes() + (rlim_t(32) << 20));
    throws<karpos::allocation_error>([&] { map.insert(space(), keys, 1u); }, "out of memory",
                                     "the pairs of an insertion", "insert fewer pairs");
  }
  CHECK(map.size() == 2);
  CHECK(map.insert(space(), Kokkos::subview(keys, std::pair(0, 1'000'000)), 1u).inserted ==
        1'000'000);
  CHECK(map.size() == 1'000'002);
}

namespace {
struct wide {
  u32 words[128];
};
}  // namespace

TEST_CASE("pending pairs are inserted once, also if memory runs out meanwhile") {
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible;
  if (!on_host || karpos_test::dies_without_memory) {
    MESSAGE("skipped: memory of " KARPOS_TEST_SPACE_NAME " cannot be bounded here");
    return;
  }
  // The pairs of the second batch go to slots where those of the first were rejected, so all are
  // moved.
  constexpr std::size_t n = 500'000;
  map_of<u32, wide> map(space(), n, 10);
  view<u32> const equal("keys", n - 1'000);
  Kokkos::deep_copy(equal, 5u);
  map.insert(space(), equal, wide{});
  auto keys = unique_keys<u32>(1'000);  // all fit: none takes another key's slot
  std::fill(keys.begin(), keys.begin() + 100, 5u);
  map.insert_async(space(), to_space(keys), wide{});
  auto const another = to_space<u32>({5});
  {
    karpos_test::memory_limit const limit(karpos_test::data_bytes() + (rlim_t(64) << 20));
    throws<karpos::allocation_error>([&] { map.insert(space(), another, wide{}); },
                                     "out of memory");
  }
  u64 const inserted = map.size() - equal.extent(0);
  CHECK(inserted >= 100);
  CHECK(map.insert(space(), another, wide{}).inserted == 1);
  CHECK(map.consolidate(space()) == karpos::insert_report{inserted, 0, 1'000 - inserted, 0});
  view<u32> const count("count", 1);
  map.count(space(), another, count);
  CHECK(to_host(count)[0] == n - 1'000 + 100 + 1);
}

TEST_CASE("copies: on the host and back, without what is pending") {
  using host = Kokkos::DefaultHostExecutionSpace;
  auto const keys = repeated<u32>(3'000, 7);
  small_map map(space(), 6'010);
  oracle<u32, u32> o;
  std::vector<u32> const gone(keys.begin(), keys.begin() + 9);
  map.insert(space(), to_space(keys), to_space(numbers<u32>(3'000)));
  map.insert(space(), to_space(keys), 5u);
  o.insert(keys, numbers<u32>(3'000));
  o.insert(keys, std::vector<u32>(3'000, 5));
  CHECK(map.erase(space(), to_space(gone)) == o.erase(gone));
  auto mirror = karpos::create_host_mirror(space(), map);
  same("pairs of the mirror", mirror.size(), o.map.size());
  Kokkos::View<u32*, Kokkos::HostSpace> const all("keys", o.map.size()),
      values("values", o.map.size());
  mirror.retrieve_all(host(), all, values);
  holds("mirror", zipped(to_host(all), to_host(values)) == o.pairs());
  small_map copy;
  deep_copy(space(), copy, mirror);
  check("copy", copy, o, some_queries(keys, 200));
  CHECK(copy.insert(space(), to_space<u32>({1, 1}), 9u).inserted == 2);
  CHECK(map.size() == o.map.size());
  map.ref(space(), 5);
  deep_copy(space(), copy, map);  // space is reserved, but no pair is pending
  check("copied beside reserved pairs", copy, o, some_queries(keys, 200));
  map.insert_async(space(), to_space<u32>({1, 1}), 9u);
  throws<std::invalid_argument>([&] { deep_copy(space(), copy, map); }, "2 pairs are pending",
                                "consolidate");
  map.consolidate(space());
  o.insert({1, 1}, {9, 9});
  deep_copy(space(), copy, map);
  check("copied again", copy, o, some_queries(keys, 200));
}

TEST_CASE("an insert_async of no pairs leaves nothing pending, and needs a table with memory") {
  auto const none = to_space<u32>({});
  small_map map(space(), 100), copy(space(), 1), empty;
  map.insert_async(space(), none, none);
  deep_copy(space(), copy, map);
  CHECK(copy.size() == 0);
  CHECK(map.consolidate(space()) == karpos::insert_report{});
  throws<std::logic_error>([&] { empty.insert_async(space(), none, none); }, "no memory");
}

TEST_CASE("a rehash inserts what is pending, and reserves capacity for it") {
  auto const keys = repeated<u32>(50, 5);
  small_map map(space(), 60);
  oracle<u32, u32> o;
  map.insert_async(space(), to_space(keys), 7u);
  o.insert(keys, std::vector<u32>(50, 7));
  map.rehash(space(), 200, 200);
  CHECK(map.size() == 50);
  check("rehashed", map, o, some_queries(keys, 200));
  map.insert_async(space(), to_space(keys), 8u);
  o.insert(keys, std::vector<u32>(50, 8));
  throws<karpos::capacity_error>([&] { map.rehash(space(), 99, 200); }, "found space for 99");
  CHECK(map.size() == 100);
  check("refused with the pending ones in", map, o, some_queries(keys, 200));
  CHECK(map.consolidate(space()) == karpos::insert_report{100, 0, 0, 0});
}

TEST_CASE("a workspace that does not do is refused before anything changes") {
  auto const keys = to_space(repeated<u32>(100'000, 5));
  small_map map(space(), 200'000);
  std::size_t const bytes = small_map::insert_bytes(space(), keys.extent(0));
  Kokkos::View<std::byte*, space::memory_space> const memory("memory", bytes + 64);
  throws<std::invalid_argument>(
      [&] {
        map.insert(space(), keys, 1u, {memory.data() + 8, bytes + 8});
      },
      "not aligned", "64");
  if (bytes > 0)
    throws<std::invalid_argument>(
        [&] {
          map.insert(space(), keys, 1u, {memory.data(), bytes - 1});
        },
        "too small", "insert_bytes");
  CHECK(map.size() == 0);
  CHECK(map.insert(space(), keys, 1u, {memory.data(), bytes}).inserted == 100'000);
}

TEST_CASE("floating-point keys: zeros are one key, NaNs are one key") {
  karpos::hash_multimap<float, u32, space> map(space(), 10);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  map.insert(space(), to_space<float>({0.0f, -0.0f, nan, -nan, 1.5f}), to_space(numbers<u32>(5)));
  view<u32> const counts("counts", 4);
  map.count(space(), to_space<float>({-0.0f, nan, 1.5f, 2.5f}), counts);
  CHECK(to_host(counts) == std::vector<u32>{2, 2, 1, 0});
  CHECK(map.different_keys(space()) == 3);
}

namespace {
struct position {
  double x, y, z;
};
struct same_last_digit {
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return a % 10 == b % 10; }
};
struct last_digit {
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return key % 10; }
};
struct sum_z {
  view<double> sums;
  KOKKOS_FUNCTION void operator()(u64 query, position const& p) const {
    Kokkos::atomic_add(&sums(query), p.z);
  }
};
}  // namespace

TEST_CASE("values of any size; hash and equality of the caller's") {
  karpos::hash_multimap<u32, position, space> places(space(), 100);
  std::vector<position> p(100);
  std::vector<u32> keys(100);
  for (std::size_t i = 0; i < 100; ++i) {
    p[i] = {0, 1, static_cast<double>(i)};
    keys[i] = static_cast<u32>(i % 2);
  }
  places.insert(space(), to_space(keys), to_space(p));
  view<double> const sums("sums", 3);
  places.for_each_match(space(), to_space<u32>({1, 0, 2}), sum_z{sums});
  CHECK(to_host(sums) == std::vector<double>{2'500, 2'450, 0});

  karpos::hash_multimap<u32, u32, space, last_digit, same_last_digit> digits(space(), 30);
  digits.insert(space(), to_space(numbers<u32>(30)), 1u);
  view<u32> const counts("counts", 2);
  digits.count(space(), to_space<u32>({103, 7}), counts);
  CHECK(to_host(counts) == std::vector<u32>{3, 3});
  CHECK(digits.different_keys(space()) == 10);
}
