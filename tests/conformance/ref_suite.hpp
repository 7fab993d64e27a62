// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations of a table inside kernels, for every tile width, bucket size and probe sequence. The
/// checks call a table through type-erased functions, so they are compiled once for each pair of
/// types.
#pragma once

#include <algorithm>
#include <functional>
#include <karpos/hash_map.hpp>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/oracle.hpp"
#include "support/space.hpp"

namespace karpos_test {

enum class operation { insert, insert_or_assign, insert_or_add, find, contains, erase };

/// Answers of one kernel: outcomes or yes/no, and the values that find returned.
template <class T>
struct answers {
  std::vector<std::uint32_t> answer;
  std::vector<T> seen;

  std::uint64_t count(karpos::outcome o) const { return count(static_cast<std::uint32_t>(o)); }
  std::uint64_t count(std::uint32_t a) const {
    return static_cast<std::uint64_t>(std::count(answer.begin(), answer.end(), a));
  }
};

/// Runs one operation for each index, with one tile each.
template <class Ref, class Key, class T>
struct ref_kernel {
  Ref ref;
  operation what;
  view<Key> keys;
  view<T> values;
  view<std::uint32_t> answer;
  view<T> seen;

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    Key const key = keys(i);
    T const value = values(i);
    std::uint32_t a = 99;
    T s{};
    switch (what) {
      case operation::insert:
        a = static_cast<std::uint32_t>(ref.insert(t, key, value));
        break;
      case operation::insert_or_assign:
        a = static_cast<std::uint32_t>(ref.insert_or_assign(t, key, value));
        break;
      case operation::insert_or_add:
        a = static_cast<std::uint32_t>(ref.insert_or_apply(t, key, value, karpos::plus{}));
        break;
      case operation::find: {
        auto const f = ref.find(t, key);
        a = f.present;
        s = f.value;
        break;
      }
      case operation::contains:
        a = ref.contains(t, key);
        break;
      case operation::erase:
        a = ref.erase(t, key);
        break;
    }
    // Detects a tile whose lanes disagree about the answer.
    auto const mine = t.each([&](int) { return a; });
    auto const first = t.get(mine, 0);
    if (!t.ballot([&](int) { return first == a; }).full()) a = 98;
    t.once([&] {
      answer(i) = a;
      seen(i) = s;
      return true;
    });
  }
};

/// A table as the checks see it.
template <class Key, class T>
struct table_under_test {
  std::string name;
  std::function<answers<T>(operation, std::vector<Key> const&, std::vector<T> const&)> run;
  std::function<std::uint64_t(std::vector<Key>&, std::vector<T>&)> retrieve_all;
};

template <int W, class Key, class T, class Ref>
answers<T> run_kernel(Ref const& ref, operation what, std::vector<Key> const& keys,
                      std::vector<T> const& values) {
  std::size_t const n = keys.size();
  ref_kernel<Ref, Key, T> const kernel{ref,
                                       what,
                                       to_space(keys),
                                       to_space(values),
                                       view<std::uint32_t>("answer", n),
                                       view<T>("seen", n)};
  karpos::device::for_each_tile<W>("karpos_test::operation", space{}, n, kernel);
  return {to_host(kernel.answer), to_host(kernel.seen)};
}

/// Returns small values that every type represents exactly, as well as sums of a few of them.
template <class T>
std::vector<T> small_values(std::size_t n, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(random.below(sizeof(T) == 1 ? 30 : 1000));
  return values;
}

template <class Key, class T>
void check_contents(table_under_test<Key, T> const& table, std::string const& when,
                    oracle<Key, T> const& expected) {
  std::vector<Key> keys;
  std::vector<T> values;
  std::uint64_t const n = table.retrieve_all(keys, values);
  same(table.name + ": number of pairs " + when, n, expected.size());
  holds(table.name + ": the pairs " + when, expected.equals(keys, values, n));
}

/// Checks that every query gets the oracle's answer.
template <class Key, class T>
void finds(table_under_test<Key, T> const& table, std::string const& when,
           oracle<Key, T> const& expected, std::vector<Key> const& queries) {
  std::vector<T> const unused(queries.size());
  auto const found = table.run(operation::find, queries, unused);
  auto const contained = table.run(operation::contains, queries, unused);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    bool const here = expected.contains(queries[i]);
    wrong += found.answer[i] != here || contained.answer[i] != here ||
             (here && !(found.seen[i] == expected.find(queries[i], T{})));
  }
  same(table.name + ": wrong answers to find and contains " + when, wrong, 0);
}

/// Checks insertions of duplicates: each key is inserted once, with a value that was offered with
/// it. Returns: the contents.
template <class Key, class T>
oracle<Key, T> check_insert(table_under_test<Key, T> const& table, std::vector<Key> const& keys) {
  std::vector<Key> const first(keys.begin(), keys.begin() + 1000);
  auto draws = skewed_draws(first, 3000, 7);
  draws.insert(draws.end(), first.begin(), first.end());
  auto const values = small_values<T>(draws.size(), 8);
  auto const inserted = table.run(operation::insert, draws, values);
  same(table.name + ": inserted", inserted.count(karpos::outcome::inserted), first.size());
  same(table.name + ": existing", inserted.count(karpos::outcome::existing),
       draws.size() - first.size());
  oracle<Key, T> winners;
  for (std::size_t i = 0; i < draws.size(); ++i)
    if (inserted.answer[i] == static_cast<std::uint32_t>(karpos::outcome::inserted))
      winners.insert(draws[i], values[i]);
  same(table.name + ": keys inserted once", winners.size(), first.size());
  check_contents(table, "after insert", winners);
  finds(table, "after insert", winners, keys);
  return winners;
}

/// Checks assignments to a range of keys of which the first half is stored.
template <class Key, class T>
void check_assign(table_under_test<Key, T> const& table, std::vector<Key> const& keys,
                  oracle<Key, T>& expected) {
  std::vector<Key> const second(keys.begin() + 800, keys.begin() + 1200);
  auto const assigned_values = small_values<T>(second.size(), 9);
  auto const assigned = table.run(operation::insert_or_assign, second, assigned_values);
  same(table.name + ": assigned", assigned.count(karpos::outcome::existing), 200);
  same(table.name + ": newly assigned", assigned.count(karpos::outcome::inserted), 200);
  for (std::size_t i = 0; i < second.size(); ++i)
    expected.insert_or_apply(second[i], assigned_values[i], [](T, T v) { return v; });
  check_contents(table, "after insert_or_assign", expected);
}

/// Checks additions to hot keys, some of them new.
template <class Key, class T>
void check_add(table_under_test<Key, T> const& table, std::vector<Key> const& keys,
               oracle<Key, T>& expected) {
  auto const summands =
      skewed_draws(std::vector<Key>(keys.begin() + 1100, keys.begin() + 1400), 2000, 10);
  auto const addends = small_values<T>(summands.size(), 11);
  auto const added = table.run(operation::insert_or_add, summands, addends);
  std::uint64_t new_keys = 0;
  for (std::size_t i = 0; i < summands.size(); ++i)
    new_keys += expected.insert_or_apply(summands[i], addends[i], karpos::plus{}) ==
                karpos::outcome::inserted;
  same(table.name + ": new sums", added.count(karpos::outcome::inserted), new_keys);
  same(table.name + ": merged", added.count(karpos::outcome::existing), summands.size() - new_keys);
  check_contents(table, "after insert_or_apply", expected);
}

/// Checks that of several erasures of a stored key exactly one succeeds.
template <class Key, class T>
void check_erase(table_under_test<Key, T> const& table, std::vector<Key> const& keys,
                 std::vector<Key> const& victims, oracle<Key, T>& expected) {
  auto tries = skewed_draws(victims, 1000, 12);
  tries.insert(tries.end(), victims.begin(), victims.end());
  tries.insert(tries.end(), keys.begin() + 1500, keys.end());  // absent keys
  auto const erased = table.run(operation::erase, tries, std::vector<T>(tries.size()));
  same(table.name + ": erased", erased.count(1), victims.size());
  same(table.name + ": not erased", erased.count(0), tries.size() - victims.size());
  for (Key const& key : victims) expected.erase(key);
  check_contents(table, "after erase", expected);
  finds(table, "after erase", expected, keys);
}

/// Inserts keys over the tombstones, twice: no key may be stored twice.
template <class Key, class T>
void check_insert_again(table_under_test<Key, T> const& table, std::vector<Key> const& keys,
                        std::vector<Key> const& victims, oracle<Key, T>& expected) {
  std::vector<Key> again(victims);
  again.insert(again.end(), victims.begin(), victims.end());
  auto again_values = small_values<T>(victims.size(), 13);
  again_values.insert(again_values.end(), again_values.begin(), again_values.begin() + 500);
  auto const reinserted = table.run(operation::insert, again, again_values);
  same(table.name + ": inserted again", reinserted.count(karpos::outcome::inserted),
       victims.size());
  same(table.name + ": existing again", reinserted.count(karpos::outcome::existing),
       victims.size());
  for (std::size_t i = 0; i < victims.size(); ++i) expected.insert(again[i], again_values[i]);
  check_contents(table, "after erase and insert", expected);
  finds(table, "after erase and insert", expected, keys);
}

/// Checks all operations. The table must hold about 2000 keys, erased ones included.
template <class Key, class T>
void check_operations(table_under_test<Key, T> const& table) {
  auto const keys = unique_keys<Key>(1600);
  std::vector<Key> const victims(keys.begin() + 300, keys.begin() + 800);
  finds(table, "in an empty table", oracle<Key, T>(), keys);
  same(table.name + ": erased from an empty table",
       table.run(operation::erase, keys, std::vector<T>(keys.size())).count(1), 0);
  oracle<Key, T> expected = check_insert(table, keys);
  check_assign(table, keys, expected);
  check_add(table, keys, expected);
  check_erase(table, keys, victims, expected);
  check_insert_again(table, keys, victims, expected);
}

/// Checks a map made for 2000 keys.
template <int W, class Map>
void check_map_in_kernels(std::string const& name, Map& map) {
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  table_under_test<Key, T> table;
  table.name = name + ", W = " + std::to_string(W);
  table.run = [&](operation what, std::vector<Key> const& keys, std::vector<T> const& values) {
    return run_kernel<W, Key, T>(map.ref(), what, keys, values);
  };
  table.retrieve_all = [&](std::vector<Key>& keys, std::vector<T>& values) {
    view<Key> const keys_out("keys", map.capacity());
    view<T> const values_out("values", map.capacity());
    std::uint64_t const n = map.retrieve_all(space{}, keys_out, values_out);
    same(table.name + ": size", map.size(space{}), n);
    keys = to_host(keys_out, n);
    values = to_host(values_out, n);
    return n;
  };
  check_operations(table);
}

template <class Key, class T, class Probing, int B, int W>
void check_map() {
  karpos::hash_map<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B> map(space{},
                                                                                            2000);
  check_map_in_kernels<W>(
      std::string(std::is_same_v<Probing, karpos::linear_probing> ? "linear" : "double") +
          ", B = " + std::to_string(B),
      map);
}

/// Checks every bucket of up to eight slots, with every width that divides it.
template <class Key, class T, class Probing>
void check_every_bucket_and_width() {
  check_map<Key, T, Probing, 1, 1>();
  check_map<Key, T, Probing, 2, 1>();
  check_map<Key, T, Probing, 2, 2>();
  check_map<Key, T, Probing, 4, 1>();
  check_map<Key, T, Probing, 4, 2>();
  check_map<Key, T, Probing, 4, 4>();
  check_map<Key, T, Probing, 8, 1>();
  check_map<Key, T, Probing, 8, 4>();
  check_map<Key, T, Probing, 8, 8>();
}

/// Checks every bucket of up to eight slots, with one lane or as many lanes as slots.
template <class Key, class T, class Probing>
void check_every_bucket() {
  check_map<Key, T, Probing, 1, 1>();
  check_map<Key, T, Probing, 2, 2>();
  check_map<Key, T, Probing, 4, 1>();
  check_map<Key, T, Probing, 8, 8>();
}

}  // namespace karpos_test
