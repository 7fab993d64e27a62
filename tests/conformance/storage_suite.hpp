// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory of a map: the caller's memory, and other spaces. `Maps` names a kind of map:
/// Maps::map<Key, T, Space>.
#pragma once

#include <cstdint>
#include <karpos/device/launch.hpp>
#include <karpos/outcome.hpp>
#include <karpos/table_options.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// Counts the keys that an insertion in a kernel finds stored.
template <class Ref, class Keys>
struct insert_key {
  Ref map;
  Keys keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& found) const {
    found += map.insert(keys(i), 3) == karpos::outcome::existing;
  }
};

/// Checks that a ref finds the keys that a later deep_copy brings, even from a table with another
/// seed.
template <class Maps, class Key, class T>
void refs_outlive_deep_copies() {
  using map_type = typename Maps::template map<Key, T, space>;
  constexpr std::uint64_t n = 1000;
  auto const keys = unique_keys<Key>(2 * n);
  map_type a(space{}, n), b(space{}, n), copy(space{}, n);
  auto const first = to_space(std::vector<Key>(keys.begin(), keys.begin() + n));
  auto const second = to_space(std::vector<Key>(keys.begin() + n, keys.end()));
  a.insert(space{}, first, T(1));
  b.insert(space{}, second, T(2));
  auto const ref = copy.ref();
  using insert = insert_key<typename map_type::ref_type, view<Key>>;
  for (int round = 0; round < 2; ++round)
    for (bool const is_a : {true, false}) {
      deep_copy(space{}, copy, is_a ? a : b);
      std::uint64_t found = 0;
      Kokkos::parallel_reduce("insert what is in", Kokkos::RangePolicy<space>(0, n),
                              insert{ref, is_a ? first : second}, found);
      CHECK(found == n);
      CHECK(copy.size(space{}) == n);
      CHECK(copy.count(space{}, is_a ? first : second) == n);
      CHECK(copy.count(space{}, is_a ? second : first) == 0);
    }
}

template <class Maps, class Key, class T>
void lives_in_memory_of_the_users() {
  using map_type = typename Maps::template map<Key, T, space>;
  constexpr std::uint64_t max_keys = 1000;
  std::size_t const bytes = map_type::bytes_for(max_keys);
  constexpr unsigned char canary = 0xa5;
  view<unsigned char> const memory("memory", bytes + 64);
  Kokkos::deep_copy(memory, canary);
  auto const keys = unique_keys<Key>(max_keys);
  {
    map_type map(space{}, karpos::wrapped_memory{memory.data(), bytes}, max_keys);
    CHECK(map.insert(space{}, to_space(keys), T(4)).inserted == max_keys);
    CHECK(map.size(space{}) == max_keys);
    CHECK(map_type::bytes_for(max_keys) >= map.capacity() * (sizeof(Key) + sizeof(T)));
    // The map is stored in this memory and nowhere else: a second map over the same bytes begins by
    // clearing them.
    map_type other(space{}, karpos::wrapped_memory{memory.data(), bytes}, max_keys);
    space{}.fence();
    CHECK(map.size(space{}) == 0);
    CHECK(map.insert(space{}, to_space(keys), T(4)).inserted == max_keys);
    CHECK(other.size(space{}) == max_keys);
    // A rehash moves the map out of this memory.
    map.rehash(space{}, 2 * max_keys);
    CHECK(other.erase(space{}, to_space(keys)) == max_keys);
    CHECK(map.size(space{}) == max_keys);
  }
  auto const after = to_host(memory);
  CHECK(std::vector<unsigned char>(after.begin() + static_cast<std::ptrdiff_t>(bytes),
                                   after.end()) == std::vector<unsigned char>(64, canary));

  auto const wrap = [&](std::size_t offset, std::size_t size) {
    return [&memory, offset, size] {
      map_type(space{}, karpos::wrapped_memory{memory.data() + offset, size}, max_keys);
    };
  };
  throws<std::invalid_argument>(wrap(0, bytes - 1), "too small", std::to_string(bytes - 1),
                                std::to_string(bytes));
  throws<std::invalid_argument>(wrap(0, 0), "too small");
  throws<std::invalid_argument>(wrap(8, bytes), "aligned");
  throws<std::invalid_argument>(
      [] {
        map_type(space{}, karpos::wrapped_memory{nullptr, 1 << 20}, max_keys);
      },
      "null pointer");
}

/// Copies to the host and back, with tombstones and a user's sentinels.
template <class Maps, class Key, class T>
void copies_between_spaces() {
  using host = Kokkos::DefaultHostExecutionSpace;
  using map_type = typename Maps::template map<Key, T, space>;
  using host_map = typename Maps::template map<Key, T, host>;
  typename map_type::options chosen;
  chosen.empty_key = Key(0);
  map_type map(space{}, 1000, chosen);
  auto keys = unique_keys<Key>(999, 2);
  keys.push_back(std::numeric_limits<Key>::max());
  std::vector<T> values(keys.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  map.insert(space{}, to_space(keys), to_space(values));
  std::vector<Key> const victims(keys.begin(), keys.begin() + 100);
  map.erase(space{}, to_space(victims));

  host_map on_host(host{}, 10);  // another size: adopts that of the source
  deep_copy(host{}, on_host, map);
  CHECK(on_host.capacity() == map.capacity());
  CHECK(on_host.max_keys() == map.max_keys());
  auto const ref = on_host.ref();
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const f = ref.find(keys[i]);
    wrong += f.present != (i >= 100) || (f.present && f.value != values[i]);
  }
  CHECK(wrong == 0);

  // The two tables are independent now. Copies back, into a table that is in use.
  CHECK(ref.erase(keys[500]));
  CHECK(ref.insert(victims[0], T(77)) == karpos::outcome::inserted);
  CHECK(map.size(space{}) == 900);
  map_type back(space{}, 1000);
  back.insert(space{}, to_space(std::vector<Key>{1, 2, 3}), T(1));
  deep_copy(space{}, back, on_host);
  CHECK(back.size(space{}) == 900);
  view<T> const out("out", 3);
  back.find(space{}, to_space(std::vector<Key>{keys[500], victims[0], keys.back()}), out, T(5));
  CHECK(bool(to_host(out) == std::vector<T>{T(5), T(77), values.back()}));
  throws<std::invalid_argument>([&] { back.insert(space{}, to_space(std::vector<Key>{0}), T(1)); },
                                "sentinel");
}

/// Looks up keys through a frozen ref, which promises that no thread writes.
template <class Ref, class Key>
struct read_frozen {
  Ref ref;
  view<Key> queries;
  view<std::uint32_t> answers;
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    auto const f = ref.find(t, queries(i));
    bool const there = ref.contains(t, queries(i));
    t.once([&] {
      answers(i) = f.present != there ? 98u : f.present ? static_cast<std::uint32_t>(f.value) : 99u;
      return true;
    });
  }
};

template <class Maps, class Key, class T, int W>
void frozen_refs_find() {
  using map_type = typename Maps::template map<Key, T, space>;
  map_type map(space{}, 1000);
  auto const keys = unique_keys<Key>(2000);
  std::vector<Key> const in(keys.begin(), keys.begin() + 1000),
      out(keys.begin(), keys.begin() + 300);
  map.insert(space{}, to_space(in), T(5));
  map.erase(space{}, to_space(out));
  using ref_type = typename map_type::frozen_ref_type;
  read_frozen<ref_type, Key> const body{map.frozen_ref(), to_space(keys),
                                        view<std::uint32_t>("answers", 2000)};
  karpos::device::for_each_tile<W>("karpos_test::frozen", space{}, 2000, body);
  std::vector<std::uint32_t> expected(2000, 99);
  for (std::size_t i = 300; i < 1000; ++i) expected[i] = 5;
  INFO("W = ", W);
  CHECK(to_host(body.answers) == expected);
}

}  // namespace karpos_test
