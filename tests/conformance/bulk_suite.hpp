// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every bulk operation of a map, compared with the oracle.
#pragma once

#include <algorithm>
#include <karpos/hash_map.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/oracle.hpp"
#include "support/space.hpp"

namespace karpos_test {

struct is_odd {
  template <class X>
  KOKKOS_FUNCTION bool operator()(X const& x) const {
    return static_cast<int>(x) % 2 == 1;
  }
};

/// A user's operation: keeps the value with the larger half.
struct larger_of_halves {
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& a, T const& b) const {
    return a / 2 < b / 2 ? b : a;
  }
};

/// Sums what for_each visits, as integers.
template <class Key, class T>
struct sum_visited {
  view<std::uint64_t> sums;
  KOKKOS_FUNCTION void operator()(Key const& key, T const& value) const {
    Kokkos::atomic_add(&sums(0), std::uint64_t(1));
    Kokkos::atomic_add(&sums(1), static_cast<std::uint64_t>(key));
    Kokkos::atomic_add(&sums(2), static_cast<std::uint64_t>(value));
  }
};

template <class Map>
class bulk_suite {
 public:
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;

  explicit bulk_suite(std::string name) : m_name(std::move(name)) {}

  void run() {
    for (std::size_t n : {0u, 1u, 4u}) golden(n);
    insertions(offers_of(3000));
    reductions();
    lookups();
    erasures();
  }

 private:
  Map made(std::uint64_t max_keys = 4000) { return Map(space{}, max_keys); }
  std::string at(char const* what) const { return m_name + ": " + what; }

  void contents_are(Map const& map, oracle<Key, T> const& expected, char const* when) {
    view<Key> const keys("keys", map.capacity());
    view<T> const values("values", map.capacity());
    std::uint64_t const n = map.retrieve_all(space{}, keys, values);
    holds(at(when), expected.equals(to_host(keys), to_host(values), n));
    same(at(when) + ", size", map.size(space{}), expected.size());
    same(at(when) + ", size without an instance", map.size(), expected.size());
  }
  static oracle<Key, T> oracle_of(std::vector<Key> const& keys, std::vector<T> const& values) {
    oracle<Key, T> o;
    for (std::size_t i = 0; i < keys.size(); ++i) o.insert(keys[i], values[i]);
    return o;
  }
  static std::vector<T> some_values(std::size_t n, std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<T> values(n);
    for (T& value : values) value = static_cast<T>(1 + random.below(sizeof(T) == 1 ? 30 : 1000));
    return values;
  }

  /// Checks every method once, for the smallest sizes, without the oracle's help.
  void golden(std::size_t n) {
    auto const keys = unique_keys<Key>(n + 1);
    std::vector<Key> const in(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n));
    auto const values = some_values(n, n);
    auto const d_keys = to_space(in);
    auto const d_values = to_space(values);
    Map map(space{}, n);
    same(at("golden max_keys"), map.max_keys(), n);
    same(at("golden size"), map.size(space{}), 0);
    karpos::insert_report const r = map.insert(space{}, d_keys, d_values);
    holds(at("golden insert"), r == karpos::insert_report{n, 0, 0, 0});
    contents_are(map, oracle_of(in, values), "golden contents");

    auto const d_queries = to_space(keys);
    view<T> const out("out", n + 1);
    view<bool> const flags("flags", n + 1);
    map.find(space{}, d_queries, out, T(7));
    map.contains(space{}, d_queries, flags);
    space{}.fence();
    auto const found = to_host(out);
    for (std::size_t i = 0; i < n; ++i) holds(at("golden find"), found[i] == values[i]);
    holds(at("golden find of a missing key"), found[n] == T(7));
    map.find(space{}, d_queries, out);
    space{}.fence();
    holds(at("golden find, zero for a missing key"), to_host(out)[n] == T(0));
    auto const flag_mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
    for (std::size_t i = 0; i <= n; ++i) holds(at("golden contains"), flag_mirror(i) == (i < n));

    map.rehash(space{}, 2 * n);
    contents_are(map, oracle_of(in, values), "golden rehash");
    same(at("golden erase"), map.erase(space{}, d_queries), n);
    same(at("golden erase again"), map.erase(space{}, d_queries), 0);
    contents_are(map, {}, "golden contents after erase");
    map.clear(space{});
    holds(at("golden insert after clear"), map.insert(space{}, d_keys, d_values).inserted == n);
    map.clear(space{});
    contents_are(map, {}, "golden contents after clear");
  }

  /// Keys that are drawn at least once each, with a value for each draw.
  struct offers {
    std::vector<Key> keys, draws;
    std::vector<T> values;
    view<Key> unique, d_keys;
    view<T> d_values;
    std::uint64_t repeated() const { return draws.size() - keys.size(); }
  };
  static offers offers_of(std::size_t n) {
    auto const keys = unique_keys<Key>(n);
    auto draws = skewed_draws(keys, 2 * n, 21);
    draws.insert(draws.end(), keys.begin(), keys.end());
    auto const values = some_values(draws.size(), 22);
    return {keys, draws, values, to_space(keys), to_space(draws), to_space(values)};
  }

  void insertions(offers const& o) {
    insert_keeps_a_value_that_was_offered(o);
    insert_with_one_value_for_all(o);
    insert_if_of_chosen_keys(o);
    insert_or_assign_keeps_the_last(o);
    insertions_that_do_not_wait(o);
  }

  void insert_keeps_a_value_that_was_offered(offers const& o) {
    auto map = made();
    holds(at("insert"), map.insert(space{}, o.d_keys, o.d_values) ==
                            karpos::insert_report{o.keys.size(), o.repeated(), 0, 0});
    std::unordered_multimap<Key, T> offered;
    for (std::size_t i = 0; i < o.draws.size(); ++i) offered.emplace(o.draws[i], o.values[i]);
    holds(at("insert again"), map.insert(space{}, o.d_keys, o.d_values) ==
                                  karpos::insert_report{0, o.draws.size(), 0, 0});
    view<Key> const keys_out("keys", map.capacity());
    view<T> const values_out("values", map.capacity());
    std::uint64_t const there = map.retrieve_all(space{}, keys_out, values_out);
    same(at("pairs after insert"), there, o.keys.size());
    auto const h_keys = to_host(keys_out, there);
    auto const h_values = to_host(values_out, there);
    std::uint64_t foreign = 0;
    for (std::size_t i = 0; i < there; ++i) {
      auto const [first, last] = offered.equal_range(h_keys[i]);
      foreign += std::none_of(first, last, [&](auto const& p) { return p.second == h_values[i]; });
    }
    same(at("values that were not offered"), foreign, 0);
  }

  void insert_with_one_value_for_all(offers const& o) {
    auto ones = made();
    Kokkos::View<Key const*, typename space::memory_space> const const_keys = o.d_keys;
    holds(at("insert one value"), ones.insert(space{}, const_keys, T(1)).inserted == o.keys.size());
    contents_are(ones, oracle_of(o.keys, std::vector<T>(o.keys.size(), T(1))), "one value for all");
    auto thrown = made();
    holds(at("insert_or_throw"),
          thrown.insert_or_throw(space{}, o.d_keys, T(1)).inserted == o.keys.size());
  }

  /// Checks insertions with a predicate and with flags.
  void insert_if_of_chosen_keys(offers const& o) {
    auto some = made();
    std::vector<int> stencil(o.keys.size());
    random_numbers random(23);
    std::vector<Key> chosen;
    for (std::size_t i = 0; i < o.keys.size(); ++i) {
      stencil[i] = static_cast<int>(random.below(10));
      if (stencil[i] % 2 == 1) chosen.push_back(o.keys[i]);
    }
    auto const d_stencil = to_space(stencil);
    holds(at("insert_if"), some.insert_if(space{}, o.unique, T(2), d_stencil, is_odd{}) ==
                               karpos::insert_report{chosen.size(), 0, 0, 0});
    contents_are(some, oracle_of(chosen, std::vector<T>(chosen.size(), T(2))), "insert_if");
    view<bool> const flags("flags", o.keys.size());
    Kokkos::deep_copy(flags, false);
    holds(at("insert_if, nothing chosen"),
          some.insert_if(space{}, o.unique, T(2), flags) == karpos::insert_report{});
  }

  /// Checks that every key ends with the value of the last call.
  void insert_or_assign_keeps_the_last(offers const& o) {
    std::size_t const n = o.keys.size();
    auto const first = some_values(n, 24), second = some_values(n, 25);
    auto assigned = made();
    holds(at("insert_or_assign, new"),
          assigned.insert_or_assign(space{}, o.unique, to_space(first)).inserted == n);
    contents_are(assigned, oracle_of(o.keys, first), "first assignment");
    holds(at("insert_or_assign, old"),
          assigned.insert_or_assign(space{}, o.unique, to_space(second)).existing == n);
    contents_are(assigned, oracle_of(o.keys, second), "second assignment");
  }

  void insertions_that_do_not_wait(offers const& o) {
    auto const assigned = some_values(o.keys.size(), 25);
    auto later = made();
    typename Map::report_view const report("report");
    later.insert_async(space{}, o.d_keys, o.d_values, report);
    space{}.fence();
    holds(at("insert_async"),
          to_host_scalar(report) == karpos::insert_report{o.keys.size(), o.repeated(), 0, 0});
    later.insert_or_assign_async(space{}, o.unique, to_space(assigned), report);
    space{}.fence();
    holds(at("insert_or_assign_async"),
          to_host_scalar(report) == karpos::insert_report{0, o.keys.size(), 0, 0});
    contents_are(later, oracle_of(o.keys, assigned), "insert_or_assign_async contents");
  }

  template <class Op>
  void reduction(Op const& op, char const* what) {
    auto const keys = unique_keys<Key>(300);
    auto const draws = skewed_draws(keys, 5000, 31);
    auto const values = some_values(draws.size(), 32);
    oracle<Key, T> expected;
    for (std::size_t i = 0; i < draws.size(); ++i)
      expected.insert_or_apply(draws[i], values[i], op);
    auto map = made(400);
    auto const d_keys = to_space(draws);
    auto const d_values = to_space(values);
    karpos::insert_report const r = map.insert_or_apply(space{}, d_keys, d_values, op);
    holds(at(what) + " report",
          r == karpos::insert_report{expected.size(), draws.size() - expected.size(), 0, 0});
    contents_are(map, expected, what);

    typename Map::report_view const report("report");
    map.insert_or_apply_async(space{}, d_keys, d_values, op, report);
    space{}.fence();
    holds(at(what) + " async", to_host_scalar(report).existing == draws.size());
    for (std::size_t i = 0; i < draws.size(); ++i)
      expected.insert_or_apply(draws[i], values[i], op);
    contents_are(map, expected, what);
  }

  void reductions() {
    reduction(karpos::plus{}, "plus");
    reduction(karpos::minimum{}, "minimum");
    reduction(karpos::maximum{}, "maximum");

    // A user's functor, and counting with one value for all keys.
    auto const keys = unique_keys<Key>(50);
    auto const draws = skewed_draws(keys, 200, 33);
    auto const d_keys = to_space(draws);
    oracle<Key, T> counts, halves;
    for (Key const& key : draws) counts.insert_or_apply(key, T(1), karpos::plus{});
    auto map = made(100);
    map.insert_or_apply(space{}, d_keys, T(1), karpos::plus{});
    contents_are(map, counts, "counting");
    std::vector<T> even = some_values(draws.size(), 34);
    for (T& v : even) v = static_cast<T>(static_cast<int>(v) / 2 * 2);
    for (std::size_t i = 0; i < draws.size(); ++i)
      halves.insert_or_apply(draws[i], even[i], larger_of_halves{});
    map.clear(space{});
    map.insert_or_apply(space{}, d_keys, to_space(even), larger_of_halves{});
    contents_are(map, halves, "a functor of the user's");
  }

  void lookups() {
    auto const keys = unique_keys<Key>(3000);
    std::vector<Key> const in(keys.begin(), keys.begin() + 2000);
    auto const values = some_values(in.size(), 41);
    auto const expected = oracle_of(in, values);
    auto map = made();
    map.insert(space{}, to_space(in), to_space(values));

    std::vector<Key> queries = skewed_draws(keys, 4000, 42);
    queries.insert(queries.end(), keys.begin(), keys.end());
    std::size_t const n = queries.size();
    auto const d_queries = to_space(queries);
    std::vector<int> stencil(n);
    random_numbers random(43);
    for (int& s : stencil) s = static_cast<int>(random.below(10));
    auto const d_stencil = to_space(stencil);

    T const missing = T(99);
    view<T> const out("out", n), out_if("out_if", n);
    view<bool> const flags("flags", n), flags_if("flags_if", n);
    map.find(space{}, d_queries, out, missing);
    map.find_if(space{}, d_queries, out_if, missing, d_stencil, is_odd{});
    map.contains(space{}, d_queries, flags);
    map.contains_if(space{}, d_queries, flags_if, d_stencil, is_odd{});
    space{}.fence();

    auto const h_out = to_host(out), h_out_if = to_host(out_if);
    auto const h_flags = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
    auto const h_flags_if = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags_if);
    std::uint64_t wrong[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < n; ++i) {
      bool const here = expected.contains(queries[i]), asked = stencil[i] % 2 == 1;
      T const value = expected.find(queries[i], missing);
      wrong[0] += !(h_out[i] == value);
      wrong[1] += !(h_out_if[i] == (asked ? value : missing));
      wrong[2] += h_flags(i) != here;
      wrong[3] += h_flags_if(i) != (asked && here);
    }
    same(at("find"), wrong[0], 0);
    same(at("find_if"), wrong[1], 0);
    same(at("contains"), wrong[2], 0);
    same(at("contains_if"), wrong[3], 0);

    visits_and_retrieves_all(map, expected);
  }

  void visits_and_retrieves_all(Map& map, oracle<Key, T> const& expected) {
    view<std::uint64_t> const sums("sums", 3);
    map.for_each(space{}, sum_visited<Key, T>{sums});
    space{}.fence();
    std::uint64_t sum[3] = {0, 0, 0};
    for (auto const& [key, value] : expected) {
      ++sum[0];
      sum[1] += static_cast<std::uint64_t>(key);
      sum[2] += static_cast<std::uint64_t>(value);
    }
    holds(at("for_each"), to_host(sums) == std::vector<std::uint64_t>{sum[0], sum[1], sum[2]});

    // The views have exactly the size of the contents.
    view<Key> const keys_out("keys", expected.size());
    view<T> const values_out("values", expected.size());
    std::uint64_t const count = map.retrieve_all(space{}, keys_out, values_out);
    holds(at("retrieve_all into views of size()"),
          expected.equals(to_host(keys_out), to_host(values_out), count));
  }

  void erasures() {
    auto const keys = unique_keys<Key>(2000);
    auto const values = some_values(keys.size(), 51);
    auto const d_keys = to_space(keys);
    auto const d_values = to_space(values);
    auto map = made(2000);
    map.insert(space{}, d_keys, d_values);
    std::vector<Key> const victims(keys.begin() + 500, keys.begin() + 900);
    auto tries = skewed_draws(victims, 2000, 52);
    tries.insert(tries.end(), victims.begin(), victims.end());
    same(at("erase with duplicates"), map.erase(space{}, to_space(tries)), victims.size());
    auto expected = oracle_of(keys, values);
    for (Key const& key : victims) expected.erase(key);
    contents_are(map, expected, "contents after erase");

    std::vector<Key> const others(keys.begin(), keys.begin() + 100);
    typename Map::erase_view const erased("erased");
    map.erase_async(space{}, to_space(others), erased);
    space{}.fence();
    same(at("erase_async"), to_host_scalar(erased).erased, others.size());
    for (Key const& key : others) expected.erase(key);
    contents_are(map, expected, "contents after erase_async");

    // A rehash keeps the contents and reclaims tombstones, so that keys can be erased and inserted
    // repeatedly.
    map.rehash(space{}, 2000);
    contents_are(map, expected, "contents after rehash");
    for (int round = 0; round < 8; ++round) {
      same(at("erased in a round"), map.erase(space{}, d_keys), expected.size());
      map.rehash(space{}, 2000);
      holds(at("insert in a round"),
            map.insert(space{}, d_keys, d_values) == karpos::insert_report{keys.size(), 0, 0, 0});
      expected = oracle_of(keys, values);
    }
    contents_are(map, expected, "contents after eight rounds");

    // The map grows, and is moved.
    map.rehash(space{}, 10000);
    contents_are(map, expected, "contents after growing");
    holds(at("capacity after growing"), map.capacity() >= 10000 && map.max_keys() == 10000);
    Map moved(std::move(map));
    contents_are(moved, expected, "contents after a move");
    map = std::move(moved);
    contents_are(map, expected, "contents after a move back");
  }

  std::string m_name;
};

}  // namespace karpos_test
