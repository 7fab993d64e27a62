// SPDX-License-Identifier: Apache-2.0
/// \file
/// insert_or_apply with heavy hitters: whether rows are pre-aggregated or inserted one by one,
/// tables and reports are those of an oracle.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <karpos/hash_map.hpp>
#include <karpos/hopscotch_map.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/chance.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace karpos::detail {
template <>
inline constexpr std::uint64_t max_reduced_at_once<karpos_test::space> =
    device::is_device<karpos_test::space> ? 100'000 : 30'000;
}  // namespace karpos::detail

namespace {

using karpos::bulk_options;
using karpos::bulk_strategy;
using karpos::insert_report;
using karpos_test::holds;
using karpos_test::permute;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr bool is_device = karpos::device::is_device<space>;
/// Rows for three parts, which are reduced one after the other.
constexpr std::size_t many = is_device ? 300'000 : 72'000;
/// Enough rows for keys to be sampled, whatever the operation is.
constexpr std::size_t sampled = is_device ? 1'200'000 : many;
/// Most rows that are inserted one by one: rows with one key take GPUs quadratic time, by
/// compare-and-swap.
constexpr std::size_t most_direct = is_device ? 20'000 : many;

/// A user's value.
struct extent {
  float low, high;
  bool operator==(extent const&) const = default;
};
struct unite {
  KOKKOS_FUNCTION extent operator()(extent const& a, extent const& b) const {
    return {a.low < b.low ? a.low : b.low, a.high < b.high ? b.high : a.high};
  }
};
/// A user's value that `plus` adds member by member. `tropical` has an addition that zero does
/// change.
struct vector_2d {
  float x, y;
  KOKKOS_FUNCTION friend vector_2d operator+(vector_2d const& a, vector_2d const& b) {
    return {a.x + b.x, a.y + b.y};
  }
  bool operator==(vector_2d const&) const = default;
};
struct tropical {
  u32 cost;
  KOKKOS_FUNCTION friend tropical operator+(tropical const& a, tropical const& b) {
    return {a.cost < b.cost ? a.cost : b.cost};
  }
  bool operator==(tropical const&) const = default;
};
/// A user's operation: addition modulo a prime, which has no atomic instruction.
struct add_modulo {
  KOKKOS_FUNCTION u32 operator()(u32 a, u32 b) const { return (a + b) % 65'521; }
};

// Distributions of keys, as numbers below `groups`.

std::vector<u64> uniform(std::size_t n, u64 groups) {
  random_numbers random(3);
  std::vector<u64> numbers(n);
  for (u64& k : numbers) k = random.below(groups);
  return numbers;
}
std::vector<u64> power_law(std::size_t n, double groups) {  // exponent 1
  random_numbers random(7);
  std::vector<u64> numbers(n);
  for (u64& k : numbers)
    k = static_cast<u64>(std::pow(groups, static_cast<double>(random() >> 11) * 0x1p-53));
  return numbers;
}
std::vector<u64> runs(std::size_t n, std::size_t length) {
  std::vector<u64> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = i / length;
  return numbers;
}
std::vector<u64> half_one(std::size_t n) {
  auto numbers = runs(n, 1);
  for (std::size_t i = 0; i < n; i += 2) numbers[i] = 12;
  return numbers;
}
std::vector<std::pair<std::string, std::vector<u64>>> distributions(std::size_t n) {
  auto clustered = uniform(n, 500);
  for (std::size_t i = 0; i < n; ++i) clustered[i] = clustered[i / 700] * 1000 + i / 7 % 100;
  auto sorted = power_law(n, 1e5);
  std::sort(sorted.begin(), sorted.end());
  return {{"one key", runs(n, n)},
          {"two keys", uniform(n, 2)},
          {"100 keys", uniform(n, 100)},
          {"1,000 keys", uniform(n, 1000)},
          {"20,000 keys", uniform(n, 20'000)},
          {"Zipf", power_law(n, 1e5)},
          {"half one key", half_one(n)},
          {"sorted", sorted},
          {"runs of three", runs(n, 3)},
          {"clusters", clustered},
          {"all different", runs(n, 1)}};
}
/// Returns the distributions that differ most, for types whose operations are tested with all
/// distributions elsewhere.
std::vector<std::pair<std::string, std::vector<u64>>> some_distributions(std::size_t n) {
  auto all = distributions(n);
#if !KARPOS_FULL_TESTS
  std::erase_if(all, [](auto const& d) {
    return d.first != "one key" && d.first != "1,000 keys" && d.first != "Zipf" &&
           d.first != "all different";
  });
#endif
  return all;
}

/// Returns keys of a type for numbers: different keys for different numbers, and no sentinel.
template <class Key>
std::vector<Key> keys_of(std::vector<u64> const& numbers) {
  std::vector<Key> keys;
  for (u64 const k : numbers) {
    if constexpr (std::is_floating_point_v<Key>)
      keys.push_back(static_cast<Key>(k) - Key(100));
    else
      keys.push_back(static_cast<Key>(permute(static_cast<std::make_unsigned_t<Key>>(k + 1))));
    if constexpr (std::is_integral_v<Key>)
      if (keys.back() >= std::numeric_limits<Key>::max() - 2) keys.back() = Key(5);
  }
  return keys;
}
template <class T>
T value_of(std::size_t i) {
  auto const small = permute(static_cast<u32>(i)) % 16;
  if constexpr (std::is_same_v<T, extent>)
    return {static_cast<float>(small), static_cast<float>(small + i % 3)};
  else if constexpr (std::is_same_v<T, vector_2d>)
    return {static_cast<float>(small), static_cast<float>(i % 3)};
  else if constexpr (std::is_same_v<T, tropical>)
    return {small + 5};
  else
    return static_cast<T>(small);
}
template <class T>
std::vector<T> values_for(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value_of<T>(i);
  return values;
}

/// Returns the contents of a map by a scan, sorted by key.
template <class Map>
auto contents_of(Map const& map) {
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  u64 const n = map.size(space{});
  view<key> const keys("keys", n);
  view<value> const values("values", n);
  same("scanned", map.retrieve_all(space{}, keys, values), n);
  auto const k = to_host(keys);
  auto const v = to_host(values);
  std::vector<std::pair<key, value>> found;
  for (u64 i = 0; i < n; ++i) found.emplace_back(k[i], v[i]);
  std::sort(found.begin(), found.end(),
            [](auto const& a, auto const& b) { return a.first < b.first; });
  return found;
}
template <class Map, class Oracle>
void contents_are(std::string const& what, Map const& map, Oracle const& expected) {
  auto const found = contents_of(map);
  holds(what, found.size() == expected.size() &&
                  std::equal(found.begin(), found.end(), expected.begin(),
                             [](auto const& a, auto const& b) {
                               return a.first == b.first && a.second == b.second;
                             }));
}
template <class Oracle, class Keys, class Values, class Op>
insert_report merge_into(Oracle& oracle, Keys const& keys, Values const& values, Op const& op) {
  insert_report r;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const [at, is_new] = oracle.try_emplace(keys[i], values[i]);
    if (!is_new) at->second = op(at->second, values[i]);
    ++(is_new ? r.inserted : r.existing);
  }
  return r;
}

bulk_strategy const strategies[] = {bulk_strategy::automatic, bulk_strategy::reduced,
                                    bulk_strategy::direct};
std::string name_of(bulk_strategy s) {
  return s == bulk_strategy::automatic ? "automatic"
         : s == bulk_strategy::reduced ? "reduced"
                                       : "direct";
}

std::vector<u64> rows_for(bulk_strategy s, std::vector<u64> const& numbers) {
  std::size_t const n =
      s == bulk_strategy::direct ? std::min(numbers.size(), most_direct) : numbers.size();
  return {numbers.begin(), numbers.begin() + static_cast<long>(n)};
}

/// The results of two merges: of a third of the rows into an empty map, then of all rows into this
/// map.
template <class Key, class T>
struct expectation {
  std::vector<Key> keys;
  std::vector<T> values;
  std::map<Key, T> once, twice;
  insert_report first, second;

  template <class Op>
  expectation(std::vector<u64> const& numbers, Op const& op)
      : keys(keys_of<Key>(numbers)),
        values(values_for<T>(numbers.size())) {
    first = merge_into(once, some(), values, op);
    twice = once;
    second = merge_into(twice, keys, values, op);
  }
  std::vector<Key> some() const {
    return {keys.begin(), keys.begin() + static_cast<long>(keys.size() / 3)};
  }
};

template <class Map, class Op>
void merges(std::string const& what,
            expectation<typename Map::key_type, typename Map::mapped_type> const& expected,
            Op const& op, bulk_strategy s) {
  auto const some = expected.some();
  Map map(space{}, expected.twice.size() + 1);
  auto const all_values = to_space(expected.values);
  auto const some_values =
      Kokkos::subview(all_values, std::pair<std::size_t, std::size_t>(0, some.size()));
  holds(what + ": first report",
        map.insert_or_apply(space{}, to_space(some), some_values, op, {s}) == expected.first);
  contents_are(what + ": first contents", map, expected.once);
  holds(what + ": second report", map.insert_or_apply(space{}, to_space(expected.keys), all_values,
                                                      op, {s}) == expected.second);
  contents_are(what + ": second contents", map, expected.twice);
}
template <class Map, class Op>
void merges(std::string const& what, std::vector<u64> const& numbers, Op const& op) {
  std::optional<expectation<typename Map::key_type, typename Map::mapped_type>> expected;
  for (bulk_strategy const s : strategies) {
    auto const rows = rows_for(s, numbers);
    if (!expected || expected->keys.size() != rows.size()) expected.emplace(rows, op);
    merges<Map>(what + ", " + name_of(s), *expected, op, s);
  }
}

/// Merges one value for all rows, as for counts.
template <class Map>
void counts(std::string const& what, std::vector<u64> const& numbers) {
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  auto const keys = keys_of<key>(numbers);
  std::map<key, value> expected;
  insert_report const report =
      merge_into(expected, keys, std::vector<value>(keys.size(), value(3)), karpos::plus{});
  for (bulk_strategy const s : strategies) {
    Map map(space{}, expected.size());
    holds(what + ", " + name_of(s) + ": report",
          map.insert_or_apply(space{}, to_space(keys), value(3), karpos::plus{}, {s}) == report);
    contents_are(what + ", " + name_of(s) + ": contents", map, expected);
  }
}

using small_map = karpos::hash_map<u32, u32, space>;

/// The algorithm of a call, recognised by the labels of its kernels.
struct way {
  bool sampled, reduced, allocated;
};
template <class F>
way way_of(F const& f) {
  f();  // Kokkos allocates scratch memory of its own
  way w{};
  karpos_test::listener const recorder;
  f();
  auto const classify = [&](std::string const& label) {
    w.sampled = w.sampled || label == "karpos::sample of keys";
    w.reduced = w.reduced || label.rfind("karpos::reduce_by_key", 0) == 0;
  };
  for (auto const& launch : karpos_test::record.launches) classify(launch.label);
  for (auto const& label : karpos_test::record.regions) classify(label);
  w.allocated = !karpos_test::record.allocations.empty();
  return w;
}
way way_of(std::vector<u64> const& numbers, bulk_options const& bulk = {}) {
  auto const keys = to_space(keys_of<u32>(numbers));
  small_map map(space{}, numbers.size());
  return way_of([&] { map.insert_or_apply(space{}, keys, 1u, karpos::plus{}, bulk); });
}

}  // namespace

TEST_CASE("goldens: nothing, one row, and four rows of three keys") {
  for (std::size_t n : {0, 1, 4}) {
    std::vector<u64> numbers{5, 3, 5, 8};
    numbers.resize(n);
    merges<small_map>(std::to_string(n) + " rows", numbers, karpos::plus{});
    counts<small_map>(std::to_string(n) + " rows counted", numbers);
  }
}

TEST_CASE("sums, extremes, counts and an operation of a user's, whatever the keys") {
  bool const all = karpos_test::rows_for_random_test(many) == many;
  for (auto const& [name, numbers] : all ? distributions(many) : some_distributions(many)) {
    merges<small_map>(name + ", plus", numbers, karpos::plus{});
#if KARPOS_FULL_TESTS
    merges<small_map>(name + ", minimum", numbers, karpos::minimum{});
#endif
    merges<small_map>(name + ", user's", numbers, add_modulo{});
    counts<small_map>(name + ", counts", numbers);
  }
}

TEST_CASE("keys of 8 bytes, doubles") {
  for (auto const& [name, numbers] : some_distributions(many)) {
    merges<karpos::hash_map<u64, double, space>>(name, numbers, karpos::plus{});
  }
}

#if KARPOS_FULL_TESTS
TEST_CASE("signed keys, maxima of floats") {
  for (auto const& [name, numbers] : some_distributions(many)) {
    merges<karpos::hash_map<std::int32_t, float, space>>(name, numbers, karpos::maximum{});
  }
}
#endif

TEST_CASE("keys of 4 bytes with a struct of 8, an operation of a user's") {
  for (auto const& [name, numbers] : some_distributions(many)) {
    merges<karpos::hash_map<float, extent, space>>(name, numbers, unite{});
  }
}

TEST_CASE("plus of values of a user's") {
  for (auto const& [name, numbers] : some_distributions(many)) {
    merges<karpos::hash_map<u32, tropical, space>>(name, numbers, karpos::plus{});
#if KARPOS_FULL_TESTS
    merges<karpos::hash_map<u32, vector_2d, space>>(name, numbers, karpos::plus{});
#endif
  }
}

namespace {
template <class Table>
Table table_of(karpos::table_ref<Table> const&);
template <class Map, class Op>
constexpr bool retries =
    karpos::detail::merges_by_retry<decltype(table_of(std::declval<typename Map::ref_type>())), Op>;
}  // namespace

TEST_CASE("operations and types for which rows of one key repeat their merge on GPUs") {
  using karpos::plus, karpos::maximum, karpos::hash_map, karpos::hopscotch_map;
  CHECK(!retries<small_map, plus>);
  CHECK(!retries<hash_map<u64, double, space>, plus>);
  CHECK(!retries<hash_map<u16, u64, space>, maximum>);
  CHECK(retries<small_map, add_modulo>);
  CHECK(retries<hash_map<float, extent, space>, plus>);
  CHECK(retries<hopscotch_map<u32, u32, space>, plus>);
  CHECK(retries<hopscotch_map<u64, u64, space>, maximum>);
  using device = karpos::detail::reduced_tuning<space, u32, plus, true>;
  CHECK(device::min_rows == (is_device ? 1 << 12 : 1 << 16));
}

TEST_CASE("the hopscotch map") {
  for (auto const& [name, numbers] : some_distributions(many)) {
    merges<karpos::hopscotch_map<u32, u32, space>>(name, numbers, karpos::plus{});
  }
}

TEST_CASE("keys and values of unequal widths, counts") {
#if KARPOS_FULL_TESTS
  counts<karpos::hash_map<u16, u64, space>>("2+8", uniform(many, 40'000));
#endif
  counts<karpos::hash_map<u64, u16, space>>("8+2, one by one", uniform(many, 40));
}

TEST_CASE("a sample of the keys decides") {
  auto const all = distributions(sampled);
  auto const numbers = [&](std::string const& name) {
    return std::find_if(all.begin(), all.end(), [&](auto const& d) { return d.first == name; })
        ->second;
  };
  for (auto const* name : {"one key", "two keys", "100 keys"}) {
    way const w = way_of(numbers(name));
    holds(std::string(name) + " is sampled", w.sampled);
    holds(std::string(name) + " is reduced", w.reduced);
  }
  way const different = way_of(numbers("all different"));
  CHECK(different.sampled);
  CHECK(!different.reduced);
  CHECK(!different.allocated);
  way const few = way_of(runs(1000, 1000));
  CHECK(!few.sampled);
  CHECK(!few.reduced);
  CHECK(!way_of(numbers("one key"), {bulk_strategy::direct}).sampled);
  CHECK(!way_of(numbers("one key"), {bulk_strategy::direct}).reduced);
  CHECK(way_of(numbers("all different"), {bulk_strategy::reduced}).reduced);
}

TEST_CASE("only insertions that merge values are reduced") {
  auto const keys = to_space(keys_of<u32>(runs(many, many)));
  small_map map(space{}, 10);
  for (bulk_strategy const s : {bulk_strategy::automatic, bulk_strategy::reduced}) {
    CHECK(!way_of([&] { map.insert(space{}, keys, 1u, {s}); }).sampled);
    CHECK(!way_of([&] { map.insert_or_assign(space{}, keys, 1u, {s}); }).reduced);
  }
}

TEST_CASE("the caller's workspace: used if it does, and nothing is allocated") {
  auto const numbers = uniform(sampled, 100);
  small_map const map(space{}, sampled);
  std::size_t const bytes = map.insert_or_apply_bytes(space{}, sampled);
  same("no more for more parts", map.insert_or_apply_bytes(space{}, 4 * sampled),
       map.insert_or_apply_bytes(space{}, 8 * sampled));
  for (std::uint64_t n = sampled; n < 9 * sampled; n += sampled / 3)
    CHECK(map.insert_or_apply_bytes(space{}, n) <=
          map.insert_or_apply_bytes(space{}, n + sampled / 3));
  same("none for few keys", map.insert_or_apply_bytes(space{}, 100), 0);
  same("none for the direct way",
       map.insert_or_apply_bytes(space{}, sampled, bulk_strategy::direct), 0);
  view<std::byte> const memory("workspace", bytes + 1);
  way const w = way_of(numbers, {.workspace = {memory.data(), bytes}});
  CHECK(w.reduced);
  CHECK(!w.allocated);
  way const without = way_of(numbers);
  CHECK(without.reduced);
  CHECK(without.allocated);
  CHECK(!way_of(numbers, {.workspace = {memory.data(), bytes - 1}}).reduced);
  CHECK(!way_of(numbers, {.workspace = {memory.data() + 1, bytes}}).reduced);
}

TEST_CASE("without memory for a workspace rows go in one by one") {
  if (karpos_test::dies_without_memory) {
    MESSAGE("skipped: the address sanitizer ends a program that has no memory");
    return;
  }
  if (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible) {
    MESSAGE("skipped: the memory of " KARPOS_TEST_SPACE_NAME " cannot be limited");
    return;
  }
  auto const keys = to_space(keys_of<u32>(uniform(many, 100)));
  small_map map(space{}, 1000);
  std::size_t const bytes = map.insert_or_apply_bytes(space{}, many);
  way const w = way_of([&] {
    map.clear(space{});
    karpos_test::memory_limit const limit(karpos_test::data_bytes());
    std::vector<void*> taken;  // takes the free memory
    while (void* const p = std::malloc(bytes / 4)) taken.push_back(p);
    insert_report const r = map.insert_or_apply(space{}, keys, 1u, karpos::plus{});
    for (void* const p : taken) std::free(p);
    CHECK(bool(r == insert_report{100, many - 100, 0, 0}));
  });
  CHECK(w.sampled);
  CHECK(!w.reduced);
  u64 sum = 0;
  for (auto const& [key, n] : contents_of(map)) sum += n;
  same("rows", sum, many);
}

/// Merges more keys than a table holds: each row is counted once, and the stored keys are complete.
template <class Map>
void rejects(std::string const& what) {
  Map map(space{}, 5'000, {.load = 0.98, .growth = karpos::growth::fixed});
  auto const keys = keys_of<u32>(uniform(many, 9'000));
  std::vector<u32> const before(keys.begin(), keys.begin() + 500);
  u64 const there = map.insert(space{}, to_space(before), 0u).inserted;
  std::map<u32, u32> expected;
  for (u32 const key : keys) ++expected[key];
  insert_report const r =
      map.insert_or_apply(space{}, to_space(keys), 1u, karpos::plus{}, {bulk_strategy::reduced});
  auto const contents = contents_of(map);
  std::map<u32, u32> const found(contents.begin(), contents.end());
  u64 left_out = 0, wrong = 0;
  for (auto const& [key, n] : expected) {
    auto const at = found.find(key);
    if (at == found.end())
      left_out += n;
    else
      wrong += at->second != n;
  }
  same(what + ": wrong counts", wrong, 0);
  same(what + ": rejected", r.rejected, left_out);
  holds(what + ": some are rejected", r.rejected > many / 3);
  same(what + ": inserted", r.inserted, found.size() - there);
  same(what + ": all rows", r.inserted + r.existing + r.rejected, many);
}
TEST_CASE("full tables: the rows of keys that find no slot are rejected, and counted") {
  rejects<small_map>("hash_map");
  rejects<karpos::hopscotch_map<u32, u32, space>>("hopscotch_map");
}

TEST_CASE("parts of views that have their extent in their type") {
  auto const numbers = keys_of<u32>(uniform(many, 100));
  Kokkos::View<u32[many], space::memory_space> const keys("keys");
  Kokkos::deep_copy(keys, to_space(numbers));
  std::map<u32, u32> expected;
  insert_report const report = merge_into(expected, numbers, numbers, karpos::plus{});
  small_map map(space{}, 1000);
  CHECK(bool(map.insert_or_apply(space{}, keys, keys, karpos::plus{}, {bulk_strategy::reduced}) ==
             report));
  contents_are("contents", map, expected);
}

TEST_CASE("a table that grows takes all") {
  auto const keys = keys_of<u32>(uniform(many, 15'000));
  std::map<u32, u32> expected;
  insert_report const report =
      merge_into(expected, keys, std::vector<u32>(many, 1), karpos::plus{});
  small_map map(space{}, 100, {.growth = karpos::growth::automatic});
  CHECK(bool(map.insert_or_apply(space{}, to_space(keys), 1u, karpos::plus{},
                                 {bulk_strategy::reduced}) == report));
  contents_are("contents", map, expected);
}

TEST_CASE("keys equal to a sentinel are refused, row by row, after the others went in") {
  for (std::size_t const every : {2, 5, 40'000}) {
    auto keys = keys_of<u32>(uniform(sampled, 50));
    std::map<u32, u32> expected;
    for (std::size_t i = 0; i < sampled; ++i)
      if (i % every == 0)
        keys[i] = ~u32(0) - static_cast<u32>(i / every % 2);
      else
        ++expected[keys[i]];
    small_map map(space{}, 1000);
    u64 const invalid = (sampled + every - 1) / every;
    throws<std::invalid_argument>(
        [&] { map.insert_or_apply(space{}, to_space(keys), 1u, karpos::plus{}); },
        std::to_string(invalid) + " of " + std::to_string(sampled) + " keys",
        "50 inserted, " + std::to_string(sampled - invalid - 50) + " existing, 0 rejected");
    contents_are("contents", map, expected);
  }
}

TEST_CASE("floating-point keys: both zeros are one, every NaN is one") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  float const some[] = {0.0f, -0.0f, nan, -nan, 1.5f, -1.5f};
  std::vector<float> keys(sampled);
  for (std::size_t i = 0; i < sampled; ++i) keys[i] = some[i % 6];
  karpos::hash_map<float, u32, space> map(space{}, 10);
  CHECK(bool(map.insert_or_apply(space{}, to_space(keys), 1u, karpos::plus{}) ==
             insert_report{4, sampled - 4, 0, 0}));
  view<u32> const out("out", 6);
  map.find(space{}, to_space(std::vector<float>(some, some + 6)), out, 0u);
  std::vector<u32> const third(4, sampled / 3), sixth(2, sampled / 6);
  auto const found = to_host(out);
  CHECK(bool(std::vector<u32>(found.begin(), found.begin() + 4) == third));
  CHECK(bool(std::vector<u32>(found.begin() + 4, found.end()) == sixth));
}

namespace {
/// A hash and an equality that ignore the last bit of numbers.
struct hash_of_pairs {
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return key / 2; }
};
struct equal_in_pairs {
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return a / 2 == b / 2; }
};
template <class Map>
way merges_pairs() {
  std::vector<u32> keys(sampled);
  for (std::size_t i = 0; i < sampled; ++i) keys[i] = static_cast<u32>(i % 200);
  auto const d_keys = to_space(keys);
  Map map(space{}, 200);
  way const w = way_of([&] {
    map.clear(space{});
    CHECK(bool(map.insert_or_apply(space{}, d_keys, 1u, karpos::plus{}) ==
               insert_report{100, sampled - 100, 0, 0}));
  });
  for (auto const& [key, n] : contents_of(map)) CHECK(n == sampled / 100);
  return w;
}
}  // namespace

TEST_CASE("assignments: GPUs reduce the rows of a hopscotch_map first, whose writes hold a lock") {
  std::size_t const n = 6'000;
  std::vector<u32> keys(n), values(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = static_cast<u32>(i % 3 == 0 ? i : i % 3);
    values[i] = permute(static_cast<u32>(i));
  }
  auto const d_keys = to_space(keys), d_values = to_space(values);
  karpos::hopscotch_map<u32, u32, space> map(space{}, n);
  karpos::hash_map<u32, u32, space> other(space{}, n);
  way const w = way_of([&] {
    map.clear(space{});
    CHECK(bool(map.insert_or_assign(space{}, d_keys, d_values) ==
               insert_report{n / 3 + 2, n - n / 3 - 2, 0, 0}));
  });
  CHECK(w.reduced == is_device);
  way const direct = way_of([&] {
    other.clear(space{});
    CHECK(bool(other.insert_or_assign(space{}, d_keys, d_values) ==
               insert_report{n / 3 + 2, n - n / 3 - 2, 0, 0}));
  });
  CHECK(!direct.reduced);
  auto const one_of_its_rows = [&](auto const& pairs) {
    std::map<u32, u32> const in(pairs.begin(), pairs.end());
    std::map<u32, bool> good;
    for (std::size_t i = 0; i < n; ++i) good[keys[i]] |= in.at(keys[i]) == values[i];
    CHECK(good.size() == n / 3 + 2);
    CHECK(in.size() == n / 3 + 2);
    std::size_t wrong = 0;
    for (auto const& [key, is_good] : good) wrong += !is_good;
    CHECK(wrong == 0);
  };
  one_of_its_rows(contents_of(map));
  one_of_its_rows(contents_of(other));
}

TEST_CASE("an equality of the user's") {
  CHECK(merges_pairs<karpos::hash_map<u32, u32, space, hash_of_pairs, equal_in_pairs>>().reduced);
  CHECK(!merges_pairs<karpos::hopscotch_map<u32, u32, space, hash_of_pairs, equal_in_pairs>>()
             .sampled);
}
