// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compiled calls give what a sequential program gives, for every type of the library.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
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

/// Calls test<Key, T>() for all types of keys and values.
template <class F>
void for_all_types(F const& test) {
  auto const with_key = [&]<class Key>(Key) {
    auto const with_values = [&]<class... T>(T...) { (test(Key{}, T{}), ...); };
    with_values(std::uint32_t{}, std::int32_t{}, std::uint64_t{}, std::int64_t{}, float{},
                double{});
  };
  with_key(std::uint32_t{});
  with_key(std::int32_t{});
  with_key(std::uint64_t{});
  with_key(std::int64_t{});
}

}  // namespace

TEST_CASE("Compiled maps hold what was inserted, of all types") {
  for_all_types([]<class Key, class T>(Key, T) { test_map<Key, T>(); });
}

TEST_CASE("Compiled reductions give what a sequential program gives, for all types") {
  for_all_types([]<class Key, class T>(Key, T) { test_reductions<Key, T>(); });
}
