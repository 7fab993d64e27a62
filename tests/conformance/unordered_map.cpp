// SPDX-License-Identifier: Apache-2.0
/// \file
/// An unordered_map answers as std::unordered_map does, for all keys and values, for any number of
/// threads at a key, and at any load. unordered_map_drop_in.cpp tests what it shares with
/// Kokkos::UnorderedMap.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <karpos/unordered_map.hpp>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/chance.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::holds;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

// Keys and values of many kinds, by number.

struct cell {
  std::int32_t i, j, k;
  KOKKOS_FUNCTION friend bool operator==(cell const& a, cell const& b) {
    return a.i == b.i && a.j == b.j && a.k == b.k;
  }
};
struct pair_of_ids {  // without operator==
  std::uint64_t a, b;
};
struct odd {
  std::uint8_t bytes[5];
};
struct state {
  double x[3];
  std::int16_t kind;
  KOKKOS_FUNCTION friend bool operator==(state const& a, state const& b) {
    return a.x[0] == b.x[0] && a.x[1] == b.x[1] && a.x[2] == b.x[2] && a.kind == b.kind;
  }
};
using complex = Kokkos::complex<double>;
enum class colour : std::uint8_t { of_zero };

template <class T>
struct nth {
  KOKKOS_FUNCTION static T of(std::uint64_t i) { return static_cast<T>(i); }
};
template <>
struct nth<std::uint32_t> {  // first the numbers that mark slots
  KOKKOS_FUNCTION static std::uint32_t of(std::uint64_t i) {
    return static_cast<std::uint32_t>(~i);
  }
};
template <>
struct nth<std::int64_t> {  // first the numbers that mark slots
  KOKKOS_FUNCTION static std::int64_t of(std::uint64_t i) {
    return static_cast<std::int64_t>((std::uint64_t(1) << 63) - 1 - (i < 4 ? i : 3 * i));
  }
};
template <>
struct nth<cell> {
  KOKKOS_FUNCTION static cell of(std::uint64_t i) {
    return {static_cast<int>(i % 7) - 3, static_cast<int>(i), static_cast<int>(i / 7)};
  }
};
template <>
struct nth<pair_of_ids> {
  KOKKOS_FUNCTION static pair_of_ids of(std::uint64_t i) { return {i / 3, i << 40}; }
};
template <>
struct nth<odd> {
  KOKKOS_FUNCTION static odd of(std::uint64_t i) {
    return {{static_cast<std::uint8_t>(i), 7, static_cast<std::uint8_t>(i >> 8), 0,
             static_cast<std::uint8_t>(i >> 16)}};
  }
};
template <>
struct nth<state> {
  KOKKOS_FUNCTION static state of(std::uint64_t i) {
    double const x = static_cast<double>(i);
    return {{x, -x, x * 0.5}, static_cast<std::int16_t>(i)};
  }
};
template <>
struct nth<complex> {
  KOKKOS_FUNCTION static complex of(std::uint64_t i) {
    return {static_cast<double>(i) + 1, static_cast<double>(i % 5)};
  }
};

template <class Map>
KOKKOS_FUNCTION typename Map::key_type key(std::uint64_t i) {
  return nth<typename Map::key_type>::of(i);
}
template <class Map>
KOKKOS_FUNCTION auto insert(Map const& map, std::uint64_t i, [[maybe_unused]] std::uint64_t value) {
  if constexpr (Map::is_set)
    return map.insert(key<Map>(i));
  else
    return map.insert(key<Map>(i), nth<typename Map::value_type>::of(value));
}
/// Returns whether pair i is at an index.
template <class Map>
KOKKOS_FUNCTION bool is_at(Map const& map, std::uint64_t at, std::uint64_t i,
                           [[maybe_unused]] std::uint64_t value) {
  typename Map::equal_to_type const equal{};
  if (at >= map.capacity() || !map.valid_at(at) || !equal(map.key_at(at), key<Map>(i)))
    return false;
  if constexpr (Map::is_set)
    return true;
  else
    return map.value_at(at) == nth<typename Map::value_type>::of(value);
}

struct operation {
  std::uint32_t key, value;
};
struct answer {
  std::uint64_t index;
  std::uint32_t what;  // 1: success, 2: existing, 4: failed
  std::uint32_t position;
};

template <class Map>
struct insert_all {
  Map map;
  view<operation> of;
  view<answer> answers;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const r = insert(map, of(i).key, of(i).value);
    answers(i) = {r.index(),
                  (r.success() ? 1u : 0u) | (r.existing() ? 2u : 0u) | (r.failed() ? 4u : 0u),
                  r.list_position()};
  }
};
template <class Map>
struct erase_all {
  Map map;
  view<operation> of;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& erased) const {
    erased += map.erase(key<Map>(of(i).key));
  }
};
/// Counts errors for keys [0, n), where keys with a value other than ~0 are stored, and for each
/// index.
template <class Map>
struct check_keys {
  Map map;
  view<std::uint32_t> values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& errors) const {
    auto const at = map.find(key<Map>(i));
    bool const in = values(i) != ~0u;
    errors += in ? !is_at(map, at, i, values(i)) : at != Map::invalid_index || map.valid_at(at);
    errors += map.exists(key<Map>(i)) != in;
  }
};
template <class Map>
struct check_indices {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& errors) const {
    if (map.valid_at(i)) errors += map.find(map.key_at(i)) != i;
  }
};

template <class Space = space>
auto range(std::uint64_t n) {
  return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::uint64_t>>(0, n);
}

/// The stored pairs by numbers of keys, each below `keys`.
using oracle = std::unordered_map<std::uint32_t, std::uint32_t>;

template <class Map>
void same_contents(std::string const& when, Map const& map, oracle const& o, std::uint64_t keys) {
  std::vector<std::uint32_t> values(keys, ~0u);
  for (auto const& [k, v] : o) values[k] = v;
  same(when + ": size", map.size(), o.size());
  std::uint64_t errors = 0;
  view<std::uint32_t> const v = to_space(values);
  Kokkos::parallel_reduce(range(keys), check_keys<Map>{map, v}, errors);
  same(when + ": wrong answers", errors, 0);
  using const_map = typename Map::const_map_type;
  Kokkos::parallel_reduce(range(keys), check_keys<const_map>{map, v}, errors);
  same(when + ": wrong answers of a const map", errors, 0);
  Kokkos::parallel_reduce(range(map.capacity()), check_indices<Map>{map}, errors);
  same(when + ": wrong indices", errors, 0);
}

template <class Map>
std::vector<answer> insert_into(Map const& map, std::vector<operation> const& of) {
  view<answer> const answers("answers", of.size());
  Kokkos::parallel_for(range(of.size()), insert_all<Map>{map, to_space(of), answers});
  return to_host(answers);
}
template <class Map>
std::uint64_t erase_from(Map const& map, std::vector<operation> const& of) {
  std::uint64_t erased = 0;
  Kokkos::parallel_reduce(range(of.size()), erase_all<Map>{map, to_space(of)}, erased);
  return erased;
}

std::vector<operation> random_operations(std::size_t n, std::uint32_t keys, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<operation> of(n);
  for (auto& o : of) {
    o.key = static_cast<std::uint32_t>(random.below(keys));
    o.value = o.key % 100 + 1;  // equal keys race, but with equal values
  }
  return of;
}
/// Inserts keys and checks the results: one success for each new key, and one index for all
/// insertions of a key.
template <class Map>
void insert_checked(Map const& map, std::vector<operation> const& of, oracle& o) {
  auto const answers = insert_into(map, of);
  std::unordered_map<std::uint32_t, std::uint64_t> index;
  std::unordered_map<std::uint32_t, std::uint32_t> successes;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    wrong += answers[i].what != 1 && answers[i].what != 2;
    auto const [at, first] = index.emplace(of[i].key, answers[i].index);
    wrong += at->second != answers[i].index;
    successes[of[i].key] += answers[i].what == 1;
  }
  for (auto const& [k, n] : successes) wrong += n != (o.count(k) == 0 ? 1u : 0u);
  same("wrong results of insertions", wrong, 0);
  for (auto const& each : of) o.emplace(each.key, each.value);
}
template <class Map>
void erase_checked(Map const& map, std::vector<operation> const& of, oracle& o) {
  std::uint64_t expected = 0;
  for (auto const& each : of) expected += o.erase(each.key);
  holds("begin_erase", map.begin_erase());
  same("erased", erase_from(map, of), expected);
  holds("end_erase", map.end_erase());
}

template <class Map>
void goldens() {
  for (std::uint32_t n : {0u, 1u, 4u}) {
    Map map(n);
    oracle o;
    std::vector<operation> of;
    for (std::uint32_t i = 0; i < n; ++i) of.push_back({i, i + 1});
    insert_checked(map, of, o);
    same_contents(std::to_string(n) + " keys", map, o, 10);
  }
}

/// Checks all operations of a map against the oracle.
template <class Map>
void lives(std::uint32_t keys) {
  goldens<Map>();
  Map map(keys);
  holds("capacity", map.capacity() >= keys && map.is_allocated());
  oracle o;
  insert_checked(map, random_operations(2 * keys, keys, 1), o);
  same_contents("inserted", map, o, keys);
  same("nothing is erased beside insertions", erase_from(map, random_operations(100, keys, 2)), 0);
  erase_checked(map, random_operations(keys, keys, 3), o);
  same_contents("erased", map, o, keys);
  insert_checked(map, random_operations(keys, keys, 4), o);
  same_contents("inserted again", map, o, keys);

  Map const before = map;
  map.rehash(3 * keys);
  holds("rehashed to more", map.capacity() > before.capacity());
  same_contents("rehashed", map, o, keys);
  same_contents("a copy keeps the old memory", before, o, keys);
  Map copy;
  copy.create_copy_view(map);
  auto mirror = create_mirror(map);
  Kokkos::deep_copy(mirror, map);
  Map apart(3 * keys), shared(3 * keys);
  deep_copy(apart, map);
  same_contents("a copy in a map made apart", apart, o, keys);
  auto apart_mirror = create_mirror(apart);
  deep_copy(apart_mirror, apart);
  std::uint64_t moved = 0;
  for (std::uint32_t i = 0; i < keys; ++i)
    moved += apart_mirror.find(key<Map>(i)) != mirror.find(key<Map>(i));
  same("indices that differ there", moved, 0);
  oracle others;
  insert_checked(shared, random_operations(keys, keys, 6), others);
  Map const beside = shared;
  deep_copy(shared, map);
  same_contents("a copy in a map made apart that has copies", shared, o, keys);
  same_contents("and what its copies see", beside, o, keys);
  oracle const old = o;
  erase_checked(map, random_operations(keys, keys, 5), o);
  same_contents("erased from the larger one", map, o, keys);
  same_contents("a copy", copy, old, keys);
  same("size of a mirror", mirror.size(), old.size());
  deep_copy(map, mirror);
  same_contents("copied back", map, old, keys);
  map.clear();
  same_contents("cleared", map, {}, keys);
}

template <class Key, class Value>
using map_of = karpos::unordered_map<Key, Value, space>;

}  // namespace

TEST_CASE("keys and values in one word: as std::unordered_map") {
  lives<map_of<std::uint32_t, std::uint32_t>>(3000);
  lives<map_of<std::int64_t, double>>(3000);
  lives<map_of<std::uint32_t, void>>(3000);
  lives<map_of<colour, std::int32_t>>(256);
#if KARPOS_FULL_TESTS
  lives<map_of<std::uint16_t, std::uint8_t>>(3000);
  lives<map_of<std::int64_t, void>>(200);
#endif
}
TEST_CASE("keys and values of any size: as std::unordered_map") {
  lives<map_of<cell, state>>(3000);
  lives<map_of<complex, std::uint8_t>>(500);
  lives<map_of<pair_of_ids, void>>(500);
#if KARPOS_FULL_TESTS
  lives<map_of<pair_of_ids, complex>>(3000);
  lives<map_of<odd, std::uint16_t>>(3000);
  lives<map_of<std::uint64_t, state>>(500);
  lives<map_of<double, float>>(500);
#endif
}

namespace {

/// Inserts few keys from many threads: one insertion of each key succeeds, and all return one
/// index.
template <class Map>
void contention() {
  for (std::uint32_t keys : {1u, 3u, 50u}) {
    Map map(100);
    oracle o;
    insert_checked(map, random_operations(karpos_test::rows_for_random_test(20'000), keys, keys),
                   o);
    same_contents("contended", map, o, 100);
  }
}

/// Inserts few keys from many threads: a thread finds a key that it inserted, or was told is
/// stored.
template <class Map>
struct insert_and_find {
  Map map;
  std::uint64_t keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& errors) const {
    std::uint64_t const k = i % keys;
    auto const r = insert(map, k, k % 100);
    auto const at = map.find(key<Map>(k));
    errors += r.failed() || at != r.index() || !map.exists(key<Map>(k));
    typename Map::equal_to_type const equal{};
    errors += at != Map::invalid_index && !equal(map.key_at(at), key<Map>(k));
  }
};
template <class Map>
void finds_what_it_inserts() {
  for (int round = 0; round < 10; ++round)
    for (std::uint64_t const keys : {1u, 4u, 32u, 300u, 2000u}) {
      Map map(keys);
      std::uint64_t errors = 0;
      Kokkos::parallel_reduce(range(karpos_test::rows_for_random_test(50'000)),
                              insert_and_find<Map>{map, keys}, errors);
      same("keys that were not found, or read wrongly", errors, 0);
    }
}

std::vector<operation> keys_from(std::uint32_t first, std::uint32_t last) {
  std::vector<operation> of;
  for (std::uint32_t i = first; i < last; ++i) of.push_back({i, i % 100});
  return of;
}

/// Looks up few keys from many threads, erases them, and looks again: an erased key is absent, but
/// its value is still there.
template <class Map>
struct erase_and_find {
  Map map;
  std::uint64_t keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& errors) const {
    auto const k = key<Map>(i % keys);
    auto const before = map.find(k);
    map.erase(k);
    errors += map.exists(k) || map.find(k) != Map::invalid_index;
    if (before != Map::invalid_index)
      errors += map.valid_at(before) ||
                map.value_at(before) != nth<typename Map::value_type>::of(i % keys % 100);
  }
};
template <class Map>
void misses_what_it_erases() {
  for (std::uint64_t const keys : {1u, 32u, 2000u}) {
    Map map(keys);
    oracle o;
    insert_checked(map, keys_from(0, static_cast<std::uint32_t>(keys)), o);
    holds("begin_erase", map.begin_erase());
    std::uint64_t errors = 0;
    Kokkos::parallel_reduce(range(karpos_test::rows_for_random_test(50'000)),
                            erase_and_find<Map>{map, keys}, errors);
    same("keys that were found, or whose values were lost", errors, 0);
    holds("end_erase", map.end_erase() && map.size() == 0);
    same_contents("erased", map, {}, keys);
  }
}

/// Inserts and looks up concurrently: a found key is stored, and whole.
template <class Map>
struct insert_during_find {
  Map map;
  std::uint64_t keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& errors) const {
    std::uint64_t const mine = i / 2 % keys, other = (i * 7 + 1) % keys;
    if (i % 2 == 0) {
      auto const r = insert(map, mine, mine % 100);
      errors += r.failed() || map.find(key<Map>(mine)) != r.index();
    }
    auto const at = map.find(key<Map>(other));
    if (at != Map::invalid_index) errors += !is_at(map, at, other, other % 100);
  }
};
template <class Map>
void lookups_during_insertions() {
  for (int round = 0; round < 5; ++round) {
    Map map(2000);
    std::uint64_t errors = 0;
    Kokkos::parallel_reduce(range(20'000), insert_during_find<Map>{map, 2000}, errors);
    same("errors beside insertions", errors, 0);
    same("size", map.size(), 2000);
  }
}

std::uint64_t failures(std::vector<answer> const& answers) {
  std::uint64_t n = 0;
  for (auto const& a : answers) n += a.what == 4;
  return n;
}

/// Offers keys to a full map, which soon remembers that it is full and then probes few buckets.
template <class Map>
void refuses_early(Map& map, std::uint32_t first) {
  std::uint32_t const n = 1'000;
  auto const refused = insert_into(map, keys_from(first, first + n));
  std::uint64_t buckets = 0;
  for (auto const& each : refused) buckets += each.position + 1;
  same("failures", failures(refused), n);
  holds(std::to_string(buckets) + " buckets for " + std::to_string(n), buckets <= 64 * n);
}
/// Fills every slot, also with the largest integers (nth counts them first). Then insertions fail,
/// and the map reports it, until slots are freed.
template <class Map>
void full() {
  Map map;
  map.rehash(5000, false);
  auto const n = static_cast<std::uint32_t>(map.capacity());
  oracle o;
  insert_checked(map, keys_from(0, n), o);
  holds("nothing failed", !map.failed_insert());
  same_contents("full", map, o, n + 10);
  same("failures", failures(insert_into(map, keys_from(n, n + 10))), 10);
  refuses_early(map, 2 * n);
  holds("failed_insert", map.failed_insert());
  map.reset_failed_insert_flag();
  insert_checked(map, keys_from(0, n), o);
  holds("existing keys do not fail", !map.failed_insert());
  same_contents("full still", map, o, n + 10);
  erase_checked(map, keys_from(4, n / 2), o);
  same_contents("half full", map, o, n + 10);
  insert_checked(map, keys_from(n, n + n / 2 - 4), o);
  same_contents("full again", map, o, n + n / 2);
  refuses_early(map, 2 * n);
  erase_checked(map, keys_from(n, n + 10), o);
  insert_checked(map, keys_from(4, 14), o);
  same_contents("and once more", map, o, n + n / 2);
  map.rehash();
  same_contents("rehashed", map, o, n + n / 2);
}

/// Checks that a map with no size hint holds as many keys as Kokkos' map.
template <class Map>
void small_hints() {
  for (Map const& map : {Map(), Map(1)}) {
    oracle o;
    insert_checked(map, keys_from(0, 128), o);
    holds("nothing failed", !map.failed_insert());
    same_contents("128 keys", map, o, 140);
  }
}

/// Checks a map that always holds as many keys as it was made for, while keys change: paths do not
/// grow.
template <class Map>
void ever_other_keys() {
  std::uint32_t const n = 4000, step = n / 4;
  Map map(n);
  oracle o;
  insert_checked(map, keys_from(0, n), o);
  std::uint32_t furthest = 0;
  for (std::uint32_t first = 0; first < 24 * step; first += step) {
    erase_checked(map, keys_from(first, first + step), o);
    for (auto const& a : insert_into(map, keys_from(first + n, first + n + step)))
      furthest = Kokkos::max(furthest, a.position);
    for (auto const& each : keys_from(first + n, first + n + step)) o.emplace(each.key, each.value);
  }
  same_contents("after many keys", map, o, 30 * step);
  holds("the furthest insertion probed " + std::to_string(furthest) + " buckets more",
        furthest < 64);
  holds("nothing failed", !map.failed_insert());
}

/// Checks that the indices of keys do not change while other keys are erased.
template <class Map>
void indices_stay() {
  Map map(1000);
  oracle o;
  auto const before = insert_into(map, keys_from(0, 1000));
  for (auto const& each : keys_from(0, 1000)) o.emplace(each.key, each.value);
  erase_checked(map, keys_from(0, 500), o);
  auto const after = insert_into(map, keys_from(500, 1000));
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < after.size(); ++i) moved += after[i].index != before[500 + i].index;
  same("moved keys", moved, 0);
}

template <class F>
void for_each_layout(F const& f) {
  f(map_of<std::uint32_t, std::uint32_t>());
  f(map_of<std::int64_t, double>());
  f(map_of<cell, state>());
}

}  // namespace

TEST_CASE("of many insertions of a key one succeeds") {
  for_each_layout([](auto const& m) { contention<std::decay_t<decltype(m)>>(); });
}
TEST_CASE("a thread that inserts a key finds it") {
  for_each_layout([](auto const& m) { finds_what_it_inserts<std::decay_t<decltype(m)>>(); });
}
TEST_CASE("what is erased is not found, and its value stays until end_erase") {
  for_each_layout([](auto const& m) { misses_what_it_erases<std::decay_t<decltype(m)>>(); });
}
TEST_CASE("lookups beside insertions find whole keys and values") {
  for_each_layout([](auto const& m) { lookups_during_insertions<std::decay_t<decltype(m)>>(); });
}
TEST_CASE("every slot can be taken, and no more") {
  for_each_layout([](auto const& m) { full<std::decay_t<decltype(m)>>(); });
}
TEST_CASE("slots of erased keys are as good as new") {
  for_each_layout([](auto const& m) { ever_other_keys<std::decay_t<decltype(m)>>(); });
}
TEST_CASE("small maps have capacity for 128 keys") {
  for_each_layout([](auto const& m) { small_hints<std::decay_t<decltype(m)>>(); });
}
TEST_CASE("keys that stay keep their indices") {
  for_each_layout([](auto const& m) { indices_stay<std::decay_t<decltype(m)>>(); });
}

namespace {

/// Inserts keys and combines their values, with each operation.
template <class Map, class Op>
struct combine_each {
  Map map;
  Op op;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    map.insert(key<Map>(i % 10), static_cast<typename Map::value_type>(i), op);
  }
};
template <class Value, class Op>
double combined(Op const& op, std::uint32_t number) {
  using map_type = map_of<std::uint32_t, Value>;
  map_type map(10);
  Kokkos::parallel_for(range(1000), combine_each<map_type, Op>{map, op});
  auto mirror = create_mirror(map);
  deep_copy(mirror, map);
  return static_cast<double>(mirror.value_at(mirror.find(nth<std::uint32_t>::of(number))));
}
/// An operation in the form that Kokkos::UnorderedMap accepts.
struct add_by_index {
  template <class Values, class Value>
  KOKKOS_FUNCTION void op(Values const& values, std::uint32_t i, Value const& v) const {
    Kokkos::atomic_add(&values(i), v);
  }
};

struct modulo_hash {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t k) const { return k % 3; }
};
struct modulo_equal {
  KOKKOS_FUNCTION bool operator()(std::uint32_t a, std::uint32_t b) const {
    return a % 300 == b % 300;
  }
};
template <class Map>
struct insert_numbers {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& in) const {
    auto const k = static_cast<typename Map::key_type>(i);
    in += map.insert(k, 1).success();
  }
};
template <class Map>
struct insert_listed {
  Map map;
  view<typename Map::key_type> keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& in) const {
    in += map.insert(keys(i % keys.extent(0)), 1).success();
  }
};
template <class Map>
struct insert_special {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& in) const {
    double const keys[] = {0.0, -0.0, Kokkos::Experimental::quiet_NaN_v<double>,
                           -Kokkos::Experimental::quiet_NaN_v<double>, 1.0};
    in += map.insert(keys[i % 5], 1.0f).success();
  }
};

}  // namespace

TEST_CASE("insertions combine values") {
  CHECK(combined<std::uint32_t>(karpos::plus{}, 3) == 49800);  // 3 + 13 + … + 993
  CHECK(combined<double>(karpos::plus{}, 3) == 49800);
  CHECK(combined<float>(karpos::maximum{}, 9) == 999);
  CHECK(combined<std::int64_t>(karpos::minimum{}, 9) == 9);
  CHECK(combined<std::uint32_t>(add_by_index{}, 3) == 49800);
  CHECK(combined<std::uint64_t>(add_by_index{}, 0) == 49500);
}

TEST_CASE("hash and equality of the user's") {
  using map_type = karpos::unordered_map<std::uint32_t, int, space, modulo_hash, modulo_equal>;
  map_type map(1000);
  std::uint64_t in = 0;
  Kokkos::parallel_reduce(range(3000), insert_numbers<map_type>{map}, in);
  CHECK(in == 300);
  CHECK(map.size() == 300);
}

TEST_CASE("Kokkos' hash and equality, spelt out, are as good as ours") {
  using key = std::uint32_t;
  using map_type =
      karpos::unordered_map<key, key, space, Kokkos::pod_hash<key>, Kokkos::pod_equal_to<key>>;
  CHECK(map_type::bytes_for(1000) == map_of<key, key>::bytes_for(1000));
  contention<map_type>();
}

TEST_CASE("zeros are one key, and so is NaN") {
  using map_type = map_of<double, float>;
  map_type map(10);
  std::uint64_t in = 0;
  Kokkos::parallel_reduce(range(100), insert_special<map_type>{map}, in);
  CHECK(in == 3);
}

TEST_CASE("zeros and NaN in complex numbers") {
  using map_type = map_of<complex, int>;
  map_type map(10);
  double const nan = std::nan(""), zero = 0;
  std::vector<complex> const numbers{{zero, 1}, {-zero, 1}, {1, -zero}, {1, zero},
                                     {nan, 1},  {-nan, 1},  {1, nan},   {zero, zero}};
  std::uint64_t in = 0;
  Kokkos::parallel_reduce(range(80), insert_listed<map_type>{map, to_space(numbers)}, in);
  CHECK(in == 5);
}

TEST_CASE("keys but the three largest fill all indices but three") {
  using map_type = map_of<std::uint64_t, void>;
  map_type map;
  map.rehash(1000, false);
  auto const n = map.capacity();
  std::uint64_t in = 0;
  Kokkos::parallel_reduce(range(n), insert_numbers<map_type>{map}, in);
  CHECK(in == n - 3);
  CHECK(map.failed_insert());
}

TEST_CASE("every key of a narrow type") {
  using map_type = map_of<std::uint8_t, int>;
  map_type map(256);
  std::uint64_t in = 0;
  Kokkos::parallel_reduce(range(1024), insert_numbers<map_type>{map}, in);
  CHECK(in == 256);
  CHECK(map.size() == 256);
}

TEST_CASE("maps that do not match, and maps without memory") {
  using map_type = map_of<std::uint32_t, std::uint32_t>;
  map_type small(10), large(1000);
  throws<std::invalid_argument>([&] { deep_copy(small, large); }, "different capacities",
                                "create_mirror");
  map_type const from(1000), apart(1000), to = large;
  std::uint64_t in = 0;
  Kokkos::parallel_reduce(range(100), insert_numbers<map_type>{from}, in);
  Kokkos::parallel_reduce(range(100), insert_numbers<map_type>{apart}, in);
  auto here = create_mirror(from), there = create_mirror(apart);
  deep_copy(here, from);
  deep_copy(there, apart);
  int same_index = 0;
  for (std::uint32_t i = 0; i < 100; ++i) same_index += here.find(i) == there.find(i);
  CHECK(same_index < 50);  // each map has its own places
  from.begin_erase();
  deep_copy(large, from);
  CHECK((to.erasable() && !to.failed_insert() && to.size() == 100));
  Kokkos::parallel_reduce(range(100), insert_numbers<map_type>{from}, in);
  deep_copy(large, from);
  CHECK((to.erasable() && to.failed_insert() && to.size() == 100));
  CHECK((to.end_erase() && !large.erasable() && from.erasable() && to.size() == 100));
  throws<std::length_error>([] { map_type(std::uint64_t(1) << 40); }, "capacity overflow");
  map_type::const_map_type none;
  CHECK(!none.is_allocated());
  CHECK(none.capacity() == 0);
  CHECK(none.size() == 0);
  CHECK(!none.rehash(10));
  CHECK((none.begin_erase() && !none.erasable() && !none.end_erase()));  // as with Kokkos' map
  none = large;
  CHECK(none.capacity() == large.capacity());
  CHECK(map_type::bytes_for(1000) > 8000);
  CHECK(map_type::invalid_index == 0xffffffffu);
}

namespace {

template <class To, class From>
concept copies_from = requires(To& to, From const& from) {
  deep_copy(to, from);
  to.create_copy_view(from);
  to.allocate_view(from);
  to.deep_copy_view(from);
};
template <class To, class From>
concept copies_in_a_way = requires(To& to, From const& from) { deep_copy(to, from); } ||
                          requires(To& to, From const& from) { to.create_copy_view(from); } ||
                          requires(To& to, From const& from) { to.allocate_view(from); } ||
                          requires(To& to, From const& from) { to.deep_copy_view(from); };

}  // namespace

TEST_CASE("types") {
  using map_type = map_of<int, double>;
  using values = map_type::modifiable_map_type;
  using frozen = map_type::const_map_type;
  static_assert(sizeof(long double) <= 8 ||
                karpos::detail::unordered_map::has_padding<long double>);
  static_assert(map_type::is_insertable_map && values::is_modifiable_map && frozen::is_const_map);
  static_assert(std::is_constructible_v<values, map_type> &&
                std::is_constructible_v<frozen, values> &&
                std::is_constructible_v<frozen, map_type>);
  static_assert(!std::is_constructible_v<map_type, frozen> &&
                !std::is_constructible_v<values, frozen>);
  static_assert(std::is_same_v<decltype(std::declval<map_type>().value_at(0)), double&>);
  static_assert(std::is_same_v<decltype(std::declval<frozen>().value_at(0)), double>);
  static_assert(std::is_same_v<map_of<int, void>::const_map_type, map_of<int const, void const>> ||
                std::is_same_v<map_of<int, void>::const_map_type, map_of<int const, void>>);
  using set = map_of<int, void>;
  static_assert(set::is_set && set::const_map_type::is_const_map &&
                std::is_constructible_v<set::const_map_type, set>);
  using other = map_of<int, float>;
  static_assert(copies_from<map_type, frozen> && copies_from<map_type, map_type::HostMirror>);
  static_assert(!copies_in_a_way<map_type, other> &&
                !copies_in_a_way<map_type, map_of<unsigned, double>> &&
                !copies_in_a_way<map_type, set> && !copies_in_a_way<set, map_type>);
  map_type map(10);
  auto const mirror = create_mirror(map);
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                           typename decltype(mirror)::memory_space>::accessible &&
                !karpos::device::is_device<typename decltype(mirror)::execution_space>);
  CHECK(mirror.capacity() == map.capacity());
}

namespace {

/// Publishes another key while a lookup compares keys. Such a lookup first reads words that may be
/// stale, as on GPUs, but in host memory.
struct publication {
  std::uint32_t* word = nullptr;
  std::uint32_t live = 0;
};
struct publishing_equal {
  publication* other = nullptr;
  KOKKOS_FUNCTION bool operator()(std::uint32_t a, std::uint32_t b) const {
    if (other != nullptr && other->word != nullptr) *other->word = other->live;
    return a == b;
  }
};
struct one_hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint32_t) const { return 5; }
};
struct reads_twice
    : karpos::detail::unordered_map::traits<std::uint32_t, int, space, one_hash, publishing_equal> {
  static constexpr bool reads_l1_first = true;
};

}  // namespace

TEST_CASE("a slot that was claimed at the first read is read again") {
  if (karpos::device::is_device<space>) return;  // where all lookups do this
  using storage = karpos::detail::unordered_map::storage<reads_twice>;
  publication other;
  storage const s(10, one_hash{}, publishing_equal{&other}, storage::allocate_bytes);
  auto const& table = s.view();
  REQUIRE(table.insert(1u, 10, true).what == karpos::outcome::inserted);
  auto const second = table.insert(2u, 20, true);
  REQUIRE(second.what == karpos::outcome::inserted);
  other = {table.slots().words(second.index), *table.slots().words(second.index)};
  *other.word ^= 3;  // live to claimed, until key 1 is compared
  CHECK(table.find<karpos::device::access::shared>(2u) == second.index);
}
