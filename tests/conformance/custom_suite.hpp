// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parts of a map that a user may supply: hashes, equalities, queries of another type, sentinels,
/// unusual key types. `Maps` names a kind of map: Maps::map<Key, T, Hash, KeyEqual>.
#pragma once

#include <cstdint>
#include <karpos/operations.hpp>
#include <karpos/outcome.hpp>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/oracle.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// A hash that gives every key the same home and the same path: the library mixes zero to zero.
struct constant_hash {
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint32_t) const { return 0; }
};
/// A hash that gives the longest stride.
struct all_ones_hash {
  using is_avalanching = void;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint32_t) const { return ~std::uint64_t(0); }
};
/// A bad hash that relies on the library's mixing: without it, all keys would share the first
/// bucket.
struct identity_hash {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t key) const { return key; }
};

template <class Map>
void inserts_finds_and_erases(Map map, std::vector<std::uint32_t> const& keys) {
  std::size_t const n = keys.size() / 2;
  std::vector<std::uint32_t> const in(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n));
  karpos_test::oracle<std::uint32_t, std::uint32_t> expected;
  for (std::uint32_t key : in) expected.insert(key, key / 3);
  std::vector<std::uint32_t> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = in[i] / 3;

  auto twice = in;
  twice.insert(twice.end(), in.begin(), in.end());
  auto twice_values = values;
  twice_values.insert(twice_values.end(), values.begin(), values.end());
  auto const r = map.insert(space{}, to_space(twice), to_space(twice_values));
  CHECK(bool(r == karpos::insert_report{n, n, 0, 0}));
  view<std::uint32_t> const out("out", keys.size());
  map.find(space{}, to_space(keys), out, 7u);
  auto const found = to_host(out);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) wrong += found[i] != expected.find(keys[i], 7u);
  CHECK(wrong == 0);
  CHECK(map.erase(space{}, to_space(keys)) == n);
  CHECK(map.size(space{}) == 0);
}

/// A hash and an equality that ignore the last decimal digit of keys.
struct tens_hash {
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint32_t key) const { return key / 10; }
};
struct tens_equal {
  KOKKOS_FUNCTION bool operator()(std::uint32_t a, std::uint32_t b) const {
    return a / 10 == b / 10;
  }
};

/// Checks that a user's equality decides which keys are duplicates.
template <class Maps>
void an_equality_decides() {
  typename Maps::template map<std::uint32_t, std::uint32_t, tens_hash, tens_equal> map(space{},
                                                                                       1000);
  std::vector<std::uint32_t> keys(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) keys[i] = i;
  auto const r = map.insert_or_apply(space{}, to_space(keys), 1u, karpos::plus{});
  CHECK(bool(r == karpos::insert_report{100, 900, 0, 0}));
  view<std::uint32_t> const out("out", 1000);
  map.find(space{}, to_space(keys), out, 0u);
  CHECK(to_host(out) == std::vector<std::uint32_t>(1000, 10u));
  CHECK(map.erase(space{}, to_space(std::vector<std::uint32_t>{15, 27})) == 2);
  CHECK(map.size(space{}) == 98);
}

/// A pair of coordinates that queries a map with packed keys.
struct coordinates {
  std::uint32_t x, y;
};
struct packed_hash {
  using is_avalanching = void;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t key) const { return karpos::mix(key); }
  KOKKOS_FUNCTION std::uint64_t operator()(coordinates c) const {
    return karpos::mix(static_cast<std::uint64_t>(c.x) << 32 | c.y);
  }
};
struct packed_equal {
  KOKKOS_FUNCTION bool operator()(std::uint64_t a, std::uint64_t b) const { return a == b; }
  KOKKOS_FUNCTION bool operator()(std::uint64_t a, coordinates c) const {
    return a >> 32 == c.x && (a & 0xffffffffu) == c.y;
  }
};

template <class Maps>
void queries_have_a_type_of_their_own() {
  typename Maps::template map<std::uint64_t, std::uint32_t, packed_hash, packed_equal> map(space{},
                                                                                           1000);
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> values;
  std::vector<coordinates> queries;
  for (std::uint32_t x = 0; x < 30; ++x)
    for (std::uint32_t y = 0; y < 30; ++y) {
      if (x <= y) keys.push_back(static_cast<std::uint64_t>(x) << 32 | y);
      if (x <= y) values.push_back(100 * x + y);
      queries.push_back({x, y});
    }
  map.insert(space{}, to_space(keys), to_space(values));
  view<std::uint32_t> const out("out", queries.size());
  view<bool> const flags("flags", queries.size());
  map.find(space{}, to_space(queries), out, 9999u);
  map.contains(space{}, to_space(queries), flags);
  auto const found = to_host(out);
  auto const h_flags = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    auto const [x, y] = queries[i];
    wrong += found[i] != (x <= y ? 100 * x + y : 9999u) || h_flags(i) != (x <= y);
  }
  CHECK(wrong == 0);
  CHECK(map.erase(space{}, to_space(queries)) == keys.size());
  CHECK(map.size(space{}) == 0);
}

template <class Maps, class Key, class T>
void stores_the_default_sentinels() {
  using map_type = typename Maps::template map<Key, T>;
  constexpr Key largest = std::numeric_limits<Key>::max();
  typename map_type::options chosen;
  chosen.empty_key = Key(0);
  chosen.erased_key = Key(5);
  map_type map(space{}, 100, chosen);
  std::vector<Key> const keys{largest, static_cast<Key>(largest - 1), static_cast<Key>(largest - 3),
                              1, 4};
  auto const r = map.insert(space{}, to_space(keys), T(3));
  CHECK(bool(r == karpos::insert_report{5, 0, 0, 0}));
  view<T> const out("out", keys.size());
  map.find(space{}, to_space(keys), out, T(0));
  CHECK(to_host(out) == std::vector<T>(keys.size(), T(3)));
  karpos_test::throws<std::invalid_argument>(
      [&] {
        map.insert(space{}, to_space(std::vector<Key>{0, 7, 5}), T(1));
      },
      "sentinel", "2 of 3");
  CHECK(map.size(space{}) == 6);
  CHECK(map.erase(space{}, to_space(keys)) == 5);
  CHECK(map.size(space{}) == 1);
  map.rehash(space{}, 50);
  CHECK(map.size(space{}) == 1);
  karpos_test::throws<std::invalid_argument>(
      [&] { map.insert(space{}, to_space(std::vector<Key>{0}), T(1)); }, "sentinel");
}

template <class Maps>
void the_largest_keys_can_be_stored() {
  stores_the_default_sentinels<Maps, std::uint32_t, std::uint32_t>();
  stores_the_default_sentinels<Maps, std::int64_t, std::uint64_t>();
  using map_type = typename Maps::template map<std::uint32_t, std::uint32_t>;
  typename map_type::options twice;
  twice.empty_key = 7;
  twice.erased_key = 7;
  karpos_test::throws<std::invalid_argument>([&] { map_type(space{}, 10, twice); }, "empty_key",
                                             "erased_key", "7");
}

template <class Maps, class Key, class T>
void stores_all(std::vector<Key> const& keys, T value) {
  typename Maps::template map<Key, T> map(space{}, keys.size());
  CHECK(map.insert(space{}, to_space(keys), value).inserted == keys.size());
  view<T> const out("out", keys.size());
  map.find(space{}, to_space(keys), out, T{});
  CHECK(bool(to_host(out) == std::vector<T>(keys.size(), value)));
}

template <class Maps>
void keys_with_bits_to_spare() {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  stores_all<Maps, std::uint16_t, std::int16_t>(all, -5);
  stores_all<Maps, std::uint32_t, double>({0, 1, 0xfffffffdu, 0xfffffffeu, 0xffffffffu}, 2.5);
#if KARPOS_FULL_TESTS
  stores_all<Maps, std::int8_t, float>({-128, -1, 0, 1, 127}, 2.5f);
  stores_all<Maps, std::int32_t, std::int32_t>({-1, -2, std::numeric_limits<std::int32_t>::min()},
                                               -5);
#endif
}

enum class colour : std::uint8_t { red, green, blue };
struct three_bytes {
  unsigned char r, g, b;
  KOKKOS_FUNCTION friend bool operator==(three_bytes x, three_bytes y) {
    return x.r == y.r && x.g == y.g && x.b == y.b;
  }
};

template <class Maps>
void keys_of_odd_types() {
  stores_all<Maps, colour, std::uint64_t>({colour::red, colour::green, colour::blue}, 8u);
  stores_all<Maps, three_bytes, three_bytes>({{0, 0, 0}, {255, 255, 255}, {1, 2, 3}, {3, 2, 1}},
                                             {9, 8, 7});
  stores_all<Maps, double, float>({0.0, -1.0, 1e300, 0.1}, 2.0f);
#if KARPOS_FULL_TESTS
  stores_all<Maps, float, std::uint8_t>({0.5f, -1.0f, 1e30f}, 2);
#endif
}

/// A function object with a view, as is common in Kokkos codes: its copies are not trivial. The
/// view has one element.
struct with_view {
  view<std::uint32_t> element;
};
struct salted_hash : with_view {
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint32_t key) const { return key ^ element(0); }
};
struct salted_equal : with_view {
  KOKKOS_FUNCTION bool operator()(std::uint32_t a, std::uint32_t b) const {
    return (a ^ element(0)) == (b ^ element(0));
  }
};
struct below_element : with_view {
  KOKKOS_FUNCTION bool operator()(std::uint32_t x) const { return x < element(0); }
};
struct add_with_element : with_view {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t stored, std::uint32_t value) const {
    return stored + value + element(0);
  }
};

/// Checks calls with functions whose copies are not trivial, and with views whose elements are not
/// contiguous or are not objects in memory, such as atomic views.
template <class Maps>
void functions_and_views_of_any_kind() {
  using numbers = std::vector<std::uint32_t>;
  using strided = Kokkos::View<std::uint32_t*, Kokkos::LayoutStride, typename space::memory_space>;
  using atomic = Kokkos::View<std::uint32_t*, typename space::memory_space,
                              Kokkos::MemoryTraits<Kokkos::Atomic>>;
  using atomic_strided =
      Kokkos::View<std::uint32_t const*, Kokkos::LayoutStride, typename space::memory_space,
                   Kokkos::MemoryTraits<Kokkos::Atomic>>;
  auto const salt = to_space(numbers{0x5a5a5a5au}), half = to_space(numbers{1000}),
             one = to_space(numbers{1});
  typename Maps::template map<std::uint32_t, std::uint32_t, salted_hash, salted_equal> map(
      space{}, 2000, {}, salted_hash{{salt}}, salted_equal{{salt}});
  // Keys i and values 3 i are in every third element of one array.
  numbers both(6000);
  for (std::uint32_t i = 0; i < 2000; ++i) both[3 * i] = i, both[3 * i + 1] = 3 * i;
  auto const data = to_space(both);
  auto const column = [&](std::uint32_t first) {
    return strided(data.data() + first, Kokkos::LayoutStride(2000, 3));
  };
  strided const keys = column(0), values = column(1), out = column(2);
  auto const wrong = [&](auto const& expected) {
    auto const all = to_host(data);
    std::uint64_t n = 0;
    for (std::uint32_t i = 0; i < 2000; ++i) n += all[3 * i + 2] != expected(i);
    return n;
  };

  same("keys below 1,000",
       map.insert_if(space{}, keys, values, keys, below_element{{half}}).inserted, 1000);
  map.insert_or_apply(space{}, atomic_strided(keys), values, add_with_element{{one}});
  map.find(space{}, keys, out, 7u);
  same("found in strided views",
       wrong([](std::uint32_t i) { return i < 1000 ? 6 * i + 1 : 3 * i; }), 0);
  map.find_if(space{}, atomic_strided(keys), out, 7u, keys, below_element{{half}});
  same("found of those below 1,000",
       wrong([](std::uint32_t i) { return i < 1000 ? 6 * i + 1 : 7; }), 0);

  view<std::uint32_t> const found("found", 2000);
  map.find(space{}, keys, atomic(found), 7u);
  numbers expected(2000);
  for (std::uint32_t i = 0; i < 2000; ++i) expected[i] = i < 1000 ? 6 * i + 1 : 3 * i;
  CHECK(to_host(found) == expected);
  same("erased", map.erase(space{}, atomic_strided(keys)), 2000);
}

}  // namespace karpos_test
