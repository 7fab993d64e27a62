// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys that occur more than once: the first counts, or all are rejected.
#include <stdexcept>

#include "support/cuckoo.hpp"

namespace {

using karpos_test::both_layouts;
using karpos_test::check_contents;
using karpos_test::check_empty_and_usable;
using karpos_test::joined;
using karpos_test::name_of;
using karpos_test::numbered_values;
using karpos_test::oracle_of;
using karpos_test::shuffled;
using karpos_test::slice;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Checks that the value of the lowest index is kept for equal keys, in a new map and in a map that
/// is in use.
template <class Key, class T>
void keeps_the_first(std::string const& what, std::vector<Key> const& keys) {
  using map_type = karpos::cuckoo_map<Key, T, space>;
  auto const values = numbered_values<T>(keys.size());
  auto const expected = oracle_of(keys, values);
  auto const queries =
      joined(slice(keys, 0, std::min<std::size_t>(keys.size(), 300000)), unique_keys<Key>(2000));
  for (auto const layout : both_layouts) {
    auto const name = what + ", " + name_of(layout);
    map_type map(space{}, to_space(keys), to_space(values), {.layout = layout});
    check_contents(name, map, expected, queries);
    CHECK(map.stats(space{}).keys == expected.size());
    auto const other = unique_keys<Key>(3000, 1);
    map.build(space{}, to_space(other), to_space(numbered_values<T>(3000)));
    map.build(space{}, to_space(keys), to_space(values));
    check_contents(name + ", again", map, expected, queries);
  }
}

#if KARPOS_FULL_TESTS
constexpr std::size_t many = 1'000'000;
#else
constexpr std::size_t many = 250'000;
#endif

template <class Key, class T>
void keeps_the_first_of_all_kinds() {
  auto const keys = unique_keys<Key>(300000);
  for (std::size_t n : {std::size_t(2), std::size_t(3), std::size_t(1000), many})
    keeps_the_first<Key, T>(std::to_string(n) + " equal keys", std::vector<Key>(n, Key(17)));
  auto const few = slice(keys, 0, 5000);
  keeps_the_first<Key, T>("pairs", shuffled(joined(few, few), 1));
  auto one_twice = slice(keys, 0, 100000);
  one_twice[99999] = one_twice[50000];
  keeps_the_first<Key, T>("one key twice", one_twice);
  std::swap(one_twice[0], one_twice[99999]);
  keeps_the_first<Key, T>("one key twice, the other way round", one_twice);
  keeps_the_first<Key, T>("skewed", karpos_test::skewed_draws(keys, many, 2));
  auto hot = slice(keys, 0, 200000);
  for (std::size_t i = 0; i < hot.size(); ++i)
    if (i % 4 != 3) hot[i] = hot[i / 4 % 3];
  keeps_the_first<Key, T>("three hot keys", shuffled(hot, 3));
  // Copies that nearly fill a bucket (which holds at most 520 keys), and more copies than a
  // region's capacity.
  for (std::size_t copies : {513u, 5000u, 60000u})
    keeps_the_first<Key, T>(
        std::to_string(copies) + " of one key",
        shuffled(joined(slice(keys, 0, 100000), std::vector<Key>(copies, keys[7])), copies));
}

TEST_CASE("cuckoo_map<u32, u32>: of equal keys the first counts") {
  keeps_the_first_of_all_kinds<u32, u32>();
}
TEST_CASE("cuckoo_map<u64, u64>: of equal keys the first counts") {
  keeps_the_first_of_all_kinds<u64, u64>();
}

template <class Key, class T>
struct refusal {
  using map_type = karpos::cuckoo_map<Key, T, space>;
  karpos::cuckoo_layout layout;

  template <class... Words>
  void operator()(std::vector<Key> const& keys, Words const&... words) const {
    typename map_type::options o;
    o.layout = layout;
    o.duplicates = karpos::duplicate_keys::reject;
    auto const d_keys = to_space(keys);
    auto const d_values = to_space(numbered_values<T>(keys.size()));
    throws<std::invalid_argument>([&] { map_type(space{}, d_keys, d_values, o); },
                                  "karpos::cuckoo_map", "more than once", words...);
    auto const good = unique_keys<Key>(100);
    map_type map(space{}, to_space(good), to_space(numbered_values<T>(100)), o);
    CHECK(map.size() == 100);
    throws<std::invalid_argument>([&] { map.build(space{}, d_keys, d_values); }, "keep_one",
                                  words...);
    check_empty_and_usable(name_of(layout) + ", after duplicates", map);
  }
};

TEST_CASE("cuckoo_map: duplicates are refused with their number and the first of them") {
  for (auto const layout : both_layouts) {
    refusal<u32, u32> const refuses{layout};
    refuses({5, 5}, "1 of 2", "keys(1) = 5 ");
    refuses({9, 5, 7, 5, 7, 7, 8}, "3 of 7", "keys(3) = 5 ");
    refuses(std::vector<u32>(1000, 3), "999 of 1000", "keys(1) = 3 ");
    auto one_twice = unique_keys<u32>(100000);
    one_twice[99990] = one_twice[50000];
    refuses(one_twice, "1 of 100000", "keys(99990) = " + std::to_string(one_twice[50000]) + " ");
    one_twice[70000] = one_twice[50000];
    refuses(one_twice, "2 of 100000", "keys(70000) = " + std::to_string(one_twice[50000]) + " ");
    refusal<u64, u64>{layout}({1, u64(1) << 40, 2, u64(1) << 40}, "1 of 4",
                              "keys(3) = 1099511627776 ");
  }
}

TEST_CASE("cuckoo_map: a negative key is named as it is") {
  for (auto const layout : both_layouts)
    refusal<std::int32_t, u32>{layout}({7, -5, 1, -5}, "1 of 4", "keys(3) = -5 ");
}

TEST_CASE("cuckoo_map: keys that are all different are not refused") {
  for (auto const layout : both_layouts) {
    karpos::cuckoo_map_options<u32> o;
    o.layout = layout;
    o.duplicates = karpos::duplicate_keys::reject;
    for (std::size_t n : {0u, 1u, 2u, 1000u, 100000u}) {
      auto const keys = unique_keys<u32>(n + 10);
      auto const in = slice(keys, 0, n);
      auto const values = numbered_values<u32>(n);
      karpos::cuckoo_map<u32, u32, space> const map(space{}, to_space(in), to_space(values), o);
      check_contents(name_of(layout), map, oracle_of(in, values), keys);
    }
  }
}

}  // namespace
