// SPDX-License-Identifier: Apache-2.0
/// \file
/// apply: insertions, erasures and lookups in one call. If the outcome is known, it is compared
/// with std::map; otherwise with what all orders of the operations have in common.
#include <algorithm>
#include <karpos/hash_map.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/map_operation.hpp>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::map_op;
using karpos::outcome;
using karpos_test::holds;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;

template <class Map>
class apply_suite {
 public:
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  using operation = karpos::map_operation<Key, T>;
  using result = karpos::map_result<T>;
  using model = std::map<Key, T>;

  apply_suite(std::string name, bool waits) : m_name(std::move(name)), m_waits(waits) {}

  void run() {
    no_operation();
    one_kind_in_a_call();
    each_key_once();
    sentinels();
    refused();
    hot_keys();
    full();
  }

 private:
  std::string at(std::string const& what) const { return m_name + ": " + what; }

  std::vector<result> applied(Map& map, std::vector<operation> const& operations) const {
    view<result> const results("results", operations.size());
    if (m_waits)
      map.apply(space{}, to_space(operations), results);
    else
      map.apply_async(space{}, to_space(operations), results);
    return to_host(results);
  }
  /// Returns the result of an operation that runs alone, and applies it to the model.
  static result done(model& map, operation const& o) {
    auto const where = map.find(o.key);
    bool const there = where != map.end();
    if (o.op == map_op::find)
      return there ? result{outcome::found, where->second} : result{outcome::absent, T{}};
    if (o.op == map_op::erase)
      return {map.erase(o.key) != 0 ? outcome::erased : outcome::absent, T{}};
    map.try_emplace(o.key, o.value);
    return {there ? outcome::existing : outcome::inserted, T{}};
  }
  /// Checks operations whose order does not matter, and the contents afterwards.
  void check(Map& map, model& expected, std::vector<operation> const& operations,
             std::vector<Key> const& keys, char const* when) {
    auto const results = applied(map, operations);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      result const r = done(expected, operations[i]);
      wrong += r.outcome != results[i].outcome || r.value != results[i].value;
    }
    same(at(when) + ", wrong results", wrong, 0);
    contents_are(map, expected, keys, when);
  }
  void contents_are(Map const& map, model const& expected, std::vector<Key> const& keys,
                    char const* when) {
    view<T> const out("out", keys.size());
    view<bool> const flags("flags", keys.size());
    auto const queries = to_space(keys);
    map.find(space{}, queries, out, T(0));
    map.contains(space{}, queries, flags);
    auto const values = to_host(out);
    auto const there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const where = expected.find(keys[i]);
      wrong += there(i) != (where != expected.end());
      wrong += where != expected.end() && where->second != values[i];
    }
    same(at(when) + ", wrong contents", wrong, 0);
    same(at(when) + ", size", map.size(space{}), expected.size());
  }

  void no_operation() {
    Map map(space{}, 100);
    map.apply(space{}, view<operation>(), view<result>());
    map.apply_async(space{}, view<operation>(), view<result>());
    holds(at("no operation"), applied(map, {}).empty());
    same(at("no operation, size"), map.size(space{}), 0);
  }

  /// Checks a sequence of calls, each with operations of one kind on different keys.
  void one_kind_in_a_call() {
    Map map(space{}, 4000);
    model expected;
    auto const keys = unique_keys<Key>(500);
    random_numbers random(61);
    for (map_op kind :
         {map_op::find, map_op::erase, map_op::insert, map_op::find, map_op::insert, map_op::erase,
          map_op::find, map_op::insert, map_op::erase, map_op::insert, map_op::find}) {
      std::vector<operation> operations;
      for (Key const key : keys)
        if (random.below(2) == 0)
          operations.push_back({kind, key, static_cast<T>(1 + random.below(1000))});
      check(map, expected, operations, keys, "one kind in a call");
      check(map, expected, {{kind, keys[random.below(500)], T(5)}}, keys, "one operation");
    }
    holds(at("something is in"), !expected.empty());
  }

  /// Checks operations of every kind in one call, at most one for each key.
  void each_key_once() {
    Map map(space{}, 12000);
    model expected;
    auto keys = unique_keys<Key>(6000);
    random_numbers random(62);
    std::vector<operation> operations;
    for (std::size_t i = 0; i < keys.size() / 2; ++i)
      operations.push_back({map_op::insert, keys[i], static_cast<T>(i + 1)});
    check(map, expected, operations, keys, "half of the keys");
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
      operations.clear();
      for (Key const key : keys)
        operations.push_back(
            {static_cast<map_op>(random.below(3)), key, static_cast<T>(1 + random.below(1000))});
      check(map, expected, operations, keys, "each key once");
    }
  }

  void sentinels() {
    typename Map::options o;
    o.empty_key = Key(7);
    o.erased_key = Key(9);
    Map map(space{}, 100, o);
    std::vector<operation> operations;
    for (map_op kind : {map_op::insert, map_op::find, map_op::erase})
      for (Key const key : {Key(7), Key(8), Key(9)}) operations.push_back({kind, key, T(3)});
    for (int round = 0; round < 2; ++round) {
      auto const results = applied(map, operations);
      for (std::size_t i = 0; i < results.size(); ++i) {
        bool const invalid = results[i].outcome == outcome::invalid;
        holds(at("invalid are the sentinels"), invalid == (operations[i].key != Key(8)));
        holds(at("sentinels have no value"), !invalid || results[i].value == T{});
      }
    }
    holds(at("no sentinel got in"), map.size(space{}) <= 1);
    same(at("no sentinel is in"), map.erase(space{}, to_space(std::vector<Key>{7, 9})), 0);

    constexpr Key largest = std::numeric_limits<Key>::max();
    Map with_defaults(space{}, 100);
    auto const r =
        applied(with_defaults, {{map_op::insert, largest, T(1)}, {map_op::find, largest, T(1)}});
    holds(at("default sentinels"),
          r[0].outcome == outcome::invalid && r[1].outcome == outcome::invalid);
  }

  void refused() {
    Map map(space{}, 100);
    view<operation> const three("three", 3);
    view<result> const four("four", 4), none("none", 0);
    throws<std::invalid_argument>([&] { map.apply(space{}, three, four); }, "::apply: ", "3", "4");
    throws<std::invalid_argument>([&] { map.apply_async(space{}, three, none); },
                                  "::apply_async: ", "3", "0");
    same(at("size after what was refused"), map.size(space{}), 0);
  }

  /// Checks many concurrent operations on few keys. All values differ, so each names its insertion.
  void hot_keys() {
    constexpr std::size_t n = 30000;
    auto const keys = unique_keys<Key>(8);
    Map map(space{}, 4 * n);
    std::vector<std::set<T>> inserted(keys.size());
    std::vector<std::int64_t> before(keys.size(), 0);
    random_numbers random(63);
    T next = 1;
    for (int round = 0; round < 3; ++round) {
      std::vector<operation> operations(n);
      std::vector<std::size_t> which(n);
      for (std::size_t i = 0; i < n; ++i) {
        which[i] = random.below(keys.size());
        operations[i] = {static_cast<map_op>(random.below(3)), keys[which[i]], next++};
      }
      auto const results = applied(map, operations);
      std::vector<std::int64_t> balance = before;
      std::uint64_t strange = 0, foreign = 0;
      for (std::size_t i = 0; i < n; ++i) {
        outcome const r = results[i].outcome;
        if (r == outcome::inserted) inserted[which[i]].insert(operations[i].value);
        balance[which[i]] += (r == outcome::inserted) - (r == outcome::erased);
        strange += !answers(r, operations[i].op);
        strange += r != outcome::found && results[i].value != T{};
      }
      for (std::size_t i = 0; i < n; ++i)
        foreign +=
            results[i].outcome == outcome::found && inserted[which[i]].count(results[i].value) == 0;
      same(at("hot keys, outcomes that do not belong to the operation"), strange, 0);
      same(at("hot keys, values that nobody inserted"), foreign, 0);
      before = present(map, keys, inserted);
      for (std::size_t k = 0; k < keys.size(); ++k)
        holds(at("hot keys, inserted - erased"), balance[k] == before[k]);
    }
  }
  static bool answers(outcome r, map_op op) {
    switch (op) {
      case map_op::insert:
        return r == outcome::inserted || r == outcome::existing || r == outcome::full;
      case map_op::erase:
        return r == outcome::erased || r == outcome::absent;
      case map_op::find:
        return r == outcome::found || r == outcome::absent;
    }
    return false;
  }
  /// Returns whether each key is stored, as 0 or 1, and checks that its value was inserted with it.
  std::vector<std::int64_t> present(Map& map, std::vector<Key> const& keys,
                                    std::vector<std::set<T>> const& inserted) {
    std::vector<operation> operations;
    for (Key const key : keys) operations.push_back({map_op::find, key, T{}});
    auto const results = applied(map, operations);
    std::vector<std::int64_t> there(keys.size());
    std::uint64_t count = 0;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      there[k] = results[k].outcome == outcome::found;
      holds(at("hot keys, value that stayed"),
            there[k] == 0 || inserted[k].count(results[k].value) == 1);
      count += static_cast<std::uint64_t>(there[k]);
    }
    same(at("hot keys, each is there once"), map.size(space{}), count);
    return there;
  }

  /// Inserts more keys than slots: keys that do not fit are reported as full, the others stay.
  void full() {
    Map map(space{}, 16);
    auto const keys = unique_keys<Key>(5000);
    std::vector<operation> operations;
    for (std::size_t i = 0; i < keys.size(); ++i)
      operations.push_back({map_op::insert, keys[i], static_cast<T>(i + 1)});
    auto const results = applied(map, operations);
    model expected;
    std::uint64_t rejected = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (results[i].outcome == outcome::inserted)
        expected[keys[i]] = operations[i].value;
      else
        rejected += results[i].outcome == outcome::full;
    }
    holds(at("full, max_keys fit"), expected.size() >= 16);
    holds(at("full, some do not"), rejected > 0);
    same(at("full, nothing else"), expected.size() + rejected, keys.size());
    contents_are(map, expected, keys, "full");
    for (map_op kind : {map_op::find, map_op::erase, map_op::find}) {
      for (operation& o : operations) o.op = kind;
      check(map, expected, operations, keys, "operations on a full table");
    }
    holds(at("all erased"), expected.empty());
  }

  std::string m_name;
  bool m_waits;
};

template <class Map>
void check_apply(char const* name) {
  apply_suite<Map>(name + std::string(", apply"), true).run();
  apply_suite<Map>(name + std::string(", apply_async"), false).run();
}

TEST_CASE("apply: mixed operations in one call") {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  check_apply<karpos::hash_map<u32, u32, space>>("hash_map u32");
  check_apply<karpos::hash_map<u64, u64, space>>("hash_map u64");
  check_apply<karpos::hopscotch_map<u32, u32, space>>("hopscotch_map u32");
  check_apply<karpos::hopscotch_map<u64, u64, space>>("hopscotch_map u64");
}

}  // namespace
