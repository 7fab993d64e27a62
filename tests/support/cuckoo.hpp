// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pairs for a cuckoo_map, and checks that a map holds exactly the expected pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <karpos/cuckoo_map.hpp>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/oracle.hpp"
#include "support/space.hpp"

namespace karpos_test {

inline constexpr karpos::cuckoo_layout both_layouts[] = {karpos::cuckoo_layout::two_level,
                                                         karpos::cuckoo_layout::dense};

inline std::string name_of(karpos::cuckoo_layout layout) {
  return layout == karpos::cuckoo_layout::dense ? "dense" : "two_level";
}

/// Value of an absent key. value_number() never returns it: its values begin at 1, and every type
/// represents them exactly.
template <class T>
inline constexpr T stand_in = static_cast<T>(sizeof(T) == 1 ? 251 : 1000005);
template <class T>
T value_number(std::uint64_t i) {
  return static_cast<T>(1 + karpos::mix(i + 1) % (sizeof(T) == 1 ? 250 : 1000003));
}
template <class T>
std::vector<T> numbered_values(std::size_t n, std::uint64_t first = 0) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value_number<T>(first + i);
  return values;
}

template <class X>
std::vector<X> slice(std::vector<X> const& v, std::size_t first, std::size_t last) {
  return {v.begin() + static_cast<std::ptrdiff_t>(first),
          v.begin() + static_cast<std::ptrdiff_t>(last)};
}
template <class X>
std::vector<X> joined(std::vector<X> a, std::vector<X> const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Returns v in another order, which depends on the seed alone.
template <class X>
std::vector<X> shuffled(std::vector<X> v, std::uint64_t seed) {
  random_numbers random(seed);
  for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[random.below(i)]);
  return v;
}

/// Returns an oracle of the pairs; the first of equal keys counts.
template <class Key, class T>
oracle<Key, T> oracle_of(std::vector<Key> const& keys, std::vector<T> const& values) {
  oracle<Key, T> o;
  for (std::size_t i = 0; i < keys.size(); ++i) o.insert(keys[i], values[i]);
  return o;
}

/// Checks that bulk find and contains answer as the oracle does.
template <class Map, class Key, class T>
void check_answers(std::string const& what, Map const& map, oracle<Key, T> const& expected,
                   std::vector<Key> const& queries) {
  std::size_t const n = queries.size();
  auto const d_queries = to_space(queries);
  view<T> const out("out", n);
  view<std::uint8_t> const flags("flags", n);
  map.find(space{}, d_queries, out, stand_in<T>);
  map.contains(space{}, d_queries, flags);
  space{}.fence();
  auto const found = to_host(out);
  auto const there = to_host(flags);
  std::uint64_t wrong_values = 0, wrong_flags = 0;
  for (std::size_t i = 0; i < n; ++i) {
    wrong_values += !(found[i] == expected.find(queries[i], stand_in<T>));
    wrong_flags += there[i] != (expected.contains(queries[i]) ? 1 : 0);
  }
  same(what + ": wrong answers to find", wrong_values, 0);
  same(what + ": wrong answers to contains", wrong_flags, 0);
}

/// Checks that the map holds the oracle's pairs, and that it answers the queries as the oracle
/// does.
template <class Map, class Key, class T>
void check_contents(std::string const& what, Map const& map, oracle<Key, T> const& expected,
                    std::vector<Key> const& queries) {
  same(what + ": size", map.size(), expected.size());
  view<Key> const keys("keys", map.size());
  view<T> const values("values", map.size());
  std::uint64_t const n = map.retrieve_all(space{}, keys, values);
  same(what + ": retrieved", n, expected.size());
  if (n <= map.size())
    holds(what + ": the pairs", expected.equals(to_host(keys), to_host(values), n));
  check_answers(what, map, expected, queries);
}

/// Checks that the map is empty, reports itself empty, and can be built again. Requires: a hash
/// that distinguishes the keys from 0 to 1999.
template <class Map>
void check_empty_and_usable(std::string const& what, Map& map) {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  std::vector<Key> keys(2000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Key>(i);
  check_contents(what + ", empty", map, oracle<Key, T>(), keys);
  auto const in = slice(keys, 500, 1700);
  auto const values = numbered_values<T>(in.size());
  map.build(space{}, to_space(in), to_space(values));
  check_contents(what + ", built again", map, oracle_of(in, values), keys);
}

}  // namespace karpos_test
