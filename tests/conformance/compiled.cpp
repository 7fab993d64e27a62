// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compiled calls give what a sequential program gives, for every type of the library.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <karpos/compiled.hpp>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

namespace compiled = karpos::compiled;
using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

/// Returns n different keys: signed ones on both sides of zero, without -3, which is a sentinel in
/// slots of 16 bytes.
template <class Key>
std::vector<Key> different_keys(int n) {
  std::vector<Key> keys;
  for (Key k = std::is_signed_v<Key> ? static_cast<Key>(-n / 2) : Key(0);
       keys.size() < std::size_t(n); ++k)
    if (k != static_cast<Key>(-3)) keys.push_back(k);
  return keys;
}
/// Returns values of both signs, if T has them.
template <class T>
std::vector<T> some_values(std::size_t n) {
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>(static_cast<T>(i * 37 % 101) - T(50)));
  return values;
}

template <class Key, class T>
void test_map() {
  space const exec;
  std::size_t const n = 400, one = 7;
  auto const keys = different_keys<Key>(n);
  auto values = some_values<T>(n);
  auto const k = to_space(keys);
  compiled::hash_map<Key, T> map(exec, n);
  same("inserted keys", map.insert(exec, k, to_space(values)).inserted, n);
  same("keys of the map", map.size(exec), n);

  view<T> const found("found", n);
  map.find(exec, k, found, T(99));
  holds("values are found", to_host(found) == values);
  auto const single = to_space(std::vector<Key>{keys[one]});
  values[one] = T(7);
  same("assigned keys", map.insert_or_assign(exec, single, to_space<T>({T(7)})).existing, 1);
  map.find(exec, k, found);
  holds("an assigned value is found", to_host(found) == values);

  same("erased keys", map.erase(exec, single), 1);
  map.find(exec, single, Kokkos::subview(found, std::pair(0, 1)), T(99));
  holds("an erased key is missing", to_host(found)[0] == T(99));
  view<bool> const stored("stored", n);
  map.contains(exec, k, stored);
  auto const is_stored = to_host(stored);
  same("stored keys", std::uint64_t(std::count(is_stored.begin(), is_stored.end(), true)), n - 1);
  holds("the erased key is not stored", !is_stored[one]);

  view<Key> const all_keys("keys", n);
  view<T> const all_values("values", n);
  same("retrieved keys", map.retrieve_all(exec, all_keys, all_values), n - 1);
  std::map<Key, T> pairs, expected;
  auto const host_keys = to_host(all_keys);
  auto const host_values = to_host(all_values);
  for (std::size_t i = 0; i < n - 1; ++i) pairs[host_keys[i]] = host_values[i];
  for (std::size_t i = 0; i < n; ++i)
    if (i != one) expected[keys[i]] = values[i];
  holds("all pairs are retrieved", pairs == expected);

  // The largest keys of the type are sentinels, unless keys of 4 bytes lie in slots of 16 bytes.
  constexpr Key largest = std::numeric_limits<Key>::max();
  auto const sentinels = to_space(std::vector<Key>{largest, static_cast<Key>(largest - 1)});
  auto const two = to_space(std::vector<T>{T(1), T(2)});
  if (sizeof(Key) >= sizeof(T))
    throws<std::invalid_argument>([&] { map.insert(exec, sentinels, two); }, "sentinel");
  else
    same("keys that are no sentinels", map.insert(exec, sentinels, two).inserted, 2);
  auto moved = std::move(map);
  moved.clear(exec);
  same("keys after clear", moved.size(exec), 0);
}

template <class Key, class T>
void test_reductions() {
  space const exec;
  std::size_t const n = 3000;
  auto const different = different_keys<Key>(40);
  auto const values = some_values<T>(n);
  std::vector<Key> keys;
  std::map<Key, T> sums, least, most;
  std::map<Key, std::uint64_t> times;
  for (std::size_t i = 0; i < n; ++i) {
    Key const k = different[i * i % 37];
    T const v = values[i];
    keys.push_back(k);
    bool const is_new = times[k]++ == 0;
    sums[k] = static_cast<T>(sums[k] + v);
    least[k] = is_new ? v : std::min(least[k], v);
    most[k] = is_new ? v : std::max(most[k], v);
  }
  auto const k = to_space(keys);
  auto const v = to_space(values);
  view<Key> const out_keys("keys", n);
  view<T> const out("values", n);
  auto const require = [&](std::string const& what, std::uint64_t groups, auto const& results,
                           auto const& expected) {
    std::remove_cvref_t<decltype(expected)> got;
    auto const host_keys = to_host(out_keys);
    auto const host = to_host(results);
    for (std::size_t i = 0; i < groups; ++i) got[host_keys[i]] = host[i];
    holds(what, got == expected && groups == expected.size());
  };
  require("sums", compiled::reduce_by_key(exec, k, v, out_keys, out), out, sums);
  require("least values", compiled::reduce_by_key(exec, k, v, out_keys, out, karpos::minimum{}),
          out, least);
  require("largest values", compiled::reduce_by_key(exec, k, v, out_keys, out, karpos::maximum{}),
          out, most);
  if constexpr (std::is_same_v<T, std::uint64_t>)
    require("counts", compiled::count_by_key(exec, k, out_keys, out), out, times);
  throws<std::invalid_argument>(
      [&] { compiled::count_by_key(exec, k, view<Key>("", 3), view<std::uint32_t>("", 3)); }, "19");
}

template <class Key>
void test_joins() {
  space const exec;
  auto const different = different_keys<Key>(50);
  std::vector<Key> left, right;
  for (std::size_t i = 0; i < 300; ++i) left.push_back(different[i * 7 % 40]);
  for (std::size_t j = 0; j < 200; ++j) right.push_back(different[10 + j * 3 % 40]);
  std::vector<std::uint64_t> expected_left, expected_right, matched;
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t j = 0; j < right.size(); ++j)
      if (left[i] == right[j]) expected_left.push_back(i), expected_right.push_back(j);
    if (std::find(right.begin(), right.end(), left[i]) != right.end()) matched.push_back(i);
  }
  compiled::join const pairs(exec, to_space(left), to_space(right), karpos::join_kind::inner);
  view<std::uint64_t> const l("left", pairs.size()), r("right", pairs.size());
  pairs.write(exec, l, r);
  holds("pairs", to_host(l) == expected_left && to_host(r) == expected_right);
  view<std::uint32_t> const l32("left", pairs.size()), r32("right", pairs.size());
  pairs.write(exec, l32, r32);
  auto const host = to_host(r32);
  holds("right rows", std::equal(host.begin(), host.end(), expected_right.begin()));

  compiled::join const semi(exec, to_space(left), to_space(right), karpos::join_kind::left_semi);
  same("left rows with a match", semi.size(), matched.size());
  semi.write(exec, l);
  semi.write(exec, l32);
  auto const rows = to_host(l, semi.size());
  holds("semi join", rows == matched);
  auto const rows32 = to_host(l32, semi.size());
  holds("semi join in 32 bits", std::equal(rows.begin(), rows.end(), rows32.begin()));
  exec.fence();
}

/// Searches a path of n vertices with edges in both directions, from one inside.
template <class Id, class Offset>
void test_paths() {
  space const exec;
  int const n = 200, source = 70;
  std::vector<Id> columns;
  std::vector<Offset> offsets = {0};
  std::vector<float> weights;
  for (int v = 0; v < n - 1; ++v) {  // the last one is alone
    if (v > 0) columns.push_back(Id(v - 1)), weights.push_back(0.5f);
    if (v < n - 2) columns.push_back(Id(v + 1)), weights.push_back(0.5f);
    offsets.push_back(Offset(columns.size()));
  }
  offsets.push_back(Offset(columns.size()));
  auto const w = to_space(weights);
  karpos::csr_graph const directed(to_space(offsets), to_space(columns));
  for (auto const& graph :
       {directed, directed.undirected(), directed.with_transpose(directed.trusted())}) {
    view<std::int32_t> const distances("distances", n);
    view<Id> const parents("parents", n);
    auto const report = compiled::bfs(exec, graph, Id(source), distances, parents);
    holds("the transpose is used", report.bottom_up_available == graph.has_transpose());
    view<float> const lengths("lengths", n);
    compiled::sssp_workspace<Id, Offset, float> const workspace(exec, graph, w);
    compiled::sssp(exec, workspace, Id(source), lengths);
    auto const d = to_host(distances);
    auto const p = to_host(parents);
    auto const length = to_host(lengths);
    bool is_right = d[n - 1] == -1 && p[n - 1] == Id(-1);
    for (int v = 0; v < n - 1; ++v) {
      auto const i = std::size_t(v);
      int const away = std::abs(v - source), parent = v < source ? v + 1 : v > source ? v - 1 : v;
      is_right = is_right && d[i] == away && p[i] == Id(parent) && length[i] == 0.5f * float(away);
    }
    holds("distances, parents and lengths", is_right);
  }
  view<std::int32_t> const distances("distances", n);
  throws<std::invalid_argument>([&] { compiled::bfs(exec, directed, Id(-1), distances); });
}

/// Calls test<Key, T>() for all types of keys and values.
template <class F>
void for_all_types(F const& test) {
  auto const with_key = [&]<class Key>(Key) {
    auto const with_values = [&]<class... T>(T...) { (test(Key{}, T{}), ...); };
    with_values(std::uint32_t{}, std::int32_t{}, std::uint64_t{}, std::int64_t{}, float{},
                double{});
  };
  with_key(std::int32_t{});
  with_key(std::uint64_t{});
#if KARPOS_FULL_TESTS
  with_key(std::uint32_t{});
  with_key(std::int64_t{});
#endif
}

}  // namespace

TEST_CASE("Compiled maps hold what was inserted, of all types") {
  for_all_types([]<class Key, class T>(Key, T) { test_map<Key, T>(); });
}

TEST_CASE("Compiled reductions give what a sequential program gives, for all types") {
  for_all_types([]<class Key, class T>(Key, T) { test_reductions<Key, T>(); });
}

TEST_CASE("Compiled joins give what nested loops give, for all keys") {
  test_joins<std::uint32_t>();
  test_joins<std::int32_t>();
  test_joins<std::uint64_t>();
  test_joins<std::int64_t>();
}

TEST_CASE("Compiled searches find the paths of every type of graph") {
  test_paths<std::uint32_t, std::uint32_t>();
  test_paths<std::uint32_t, std::uint64_t>();
  test_paths<std::uint64_t, std::uint64_t>();
  test_paths<std::int32_t, std::int32_t>();
  test_paths<std::int32_t, std::int64_t>();
  test_paths<std::int64_t, std::int64_t>();
}

TEST_CASE("Compiled queries rank lists of both types of scores") {
  space const exec;
  auto const test = [&]<class Score>(Score) {
    karpos::sorted_lists const lists(to_space<std::uint32_t>({3, 1, 2, 2, 4}),
                                     to_space<Score>({9, 5, 4, 7, 1}),
                                     to_space<std::uint32_t>({0, 3, 5}));
    view<std::uint32_t> const ids("ids", 2);
    view<double> const sums("sums", 2);
    same("found", compiled::top_k(exec, lists, 2, ids, sums).found, 2);
    holds("ranking", to_host(ids) == std::vector<std::uint32_t>{2, 3} &&
                         to_host(sums) == std::vector<double>{11, 9});
  };
  test(float{});
  test(double{});
}
