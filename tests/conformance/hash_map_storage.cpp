// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where a map lives: memory of the user's, other spaces, sizes beyond 32 bits.
#include <karpos/hash_map.hpp>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/oracle.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Key, class T>
void lives_in_memory_of_the_users() {
  using map_type = karpos::hash_map<Key, T, space>;
  constexpr u64 max_keys = 1000;
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
    // It lives there and nowhere else: a second map over the same bytes starts by clearing them.
    map_type other(space{}, karpos::wrapped_memory{memory.data(), bytes}, max_keys);
    space{}.fence();
    CHECK(map.size(space{}) == 0);
    CHECK(map.insert(space{}, to_space(keys), T(4)).inserted == max_keys);
    CHECK(other.size(space{}) == max_keys);
    // A rehash leaves it.
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
}

TEST_CASE("a map over memory of the user's") {
  lives_in_memory_of_the_users<u32, u32>();
  lives_in_memory_of_the_users<u64, u64>();
}

template <class Key, class T, class Space>
using map_in = karpos::hash_map<Key, T, Space, karpos::hash<Key>, karpos::equal_to<Key>,
                                karpos::double_hashing, 4>;

/// Copies there and back, with tombstones and sentinels of the user's.
template <class Key, class T>
void copies_between_spaces() {
  using host = Kokkos::DefaultHostExecutionSpace;
  typename map_in<Key, T, space>::options chosen;
  chosen.empty_key = Key(0);
  map_in<Key, T, space> map(space{}, 1000, chosen);
  auto keys = unique_keys<Key>(999, 2);
  keys.push_back(std::numeric_limits<Key>::max());
  std::vector<T> values(keys.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  map.insert(space{}, to_space(keys), to_space(values));
  std::vector<Key> const victims(keys.begin(), keys.begin() + 100);
  map.erase(space{}, to_space(victims));

  map_in<Key, T, host> on_host(host{}, 10);  // of another size: takes over that of the source
  deep_copy(host{}, on_host, map);
  CHECK(on_host.capacity() == map.capacity());
  CHECK(on_host.max_keys() == map.max_keys());
  auto const ref = on_host.ref();
  u64 wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const f = ref.find(keys[i]);
    wrong += f.present != (i >= 100) || (f.present && f.value != values[i]);
  }
  CHECK(wrong == 0);

  // They are two tables now; and back it goes, into a table that is in use.
  CHECK(ref.erase(keys[500]));
  CHECK(ref.insert(victims[0], T(77)) == karpos::outcome::inserted);
  CHECK(map.size(space{}) == 900);
  map_in<Key, T, space> back(space{}, 1000);
  back.insert(space{}, to_space(std::vector<Key>{1, 2, 3}), T(1));
  deep_copy(space{}, back, on_host);
  CHECK(back.size(space{}) == 900);
  view<T> const out("out", 3);
  back.find(space{}, to_space(std::vector<Key>{keys[500], victims[0], keys.back()}), out, T(5));
  CHECK(bool(to_host(out) == std::vector<T>{T(5), T(77), values.back()}));
  throws<std::invalid_argument>([&] { back.insert(space{}, to_space(std::vector<Key>{0}), T(1)); },
                                "sentinel");
}

TEST_CASE("deep_copy between the space under test and the host") {
  copies_between_spaces<u32, u32>();
  copies_between_spaces<u64, u64>();
}

/// Looks keys up through a ref that promises that nobody writes.
template <class Ref, class Key>
struct read_frozen {
  Ref ref;
  view<Key> queries;
  view<u32> answers;
  template <karpos::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    auto const f = ref.find(t, queries(i));
    bool const there = ref.contains(t, queries(i));
    t.once([&] {
      answers(i) = f.present != there ? 98u : f.present ? static_cast<u32>(f.value) : 99u;
      return true;
    });
  }
};

template <class Key, class T, int W>
void frozen_refs_find() {
  using map_type = map_in<Key, T, space>;
  map_type map(space{}, 1000);
  auto const keys = unique_keys<Key>(2000);
  std::vector<Key> const in(keys.begin(), keys.begin() + 1000),
      out(keys.begin(), keys.begin() + 300);
  map.insert(space{}, to_space(in), T(5));
  map.erase(space{}, to_space(out));
  using ref_type = typename map_type::frozen_ref_type;
  read_frozen<ref_type, Key> const body{map.frozen_ref(), to_space(keys),
                                        view<u32>("answers", 2000)};
  karpos::for_each_tile<W>("karpos_test::frozen", space{}, 2000, body);
  std::vector<u32> expected(2000, 99);
  for (std::size_t i = 300; i < 1000; ++i) expected[i] = 5;
  INFO("W = ", W);
  CHECK(to_host(body.answers) == expected);
}

TEST_CASE("a frozen ref finds what is there") {
  frozen_refs_find<u32, u32, 1>();
  frozen_refs_find<u32, u32, 4>();
  frozen_refs_find<u64, u64, 1>();
  frozen_refs_find<u64, u64, 2>();
}

TEST_CASE("sizes beyond 32 bits are computed, not cut") {
  using small = karpos::hash_map<u32, u32, space>;
  using large = karpos::hash_map<u64, u64, space>;
  for (int exponent : {20, 31, 32, 33, 36, 40}) {
    u64 const keys = u64(1) << exponent;
    for (double load : {0.5, 0.8, 0.98}) {
      double const slots = static_cast<double>(keys) / load;
      double const bytes = static_cast<double>(small::bytes_for(keys, load));
      CHECK(bytes >= 8 * slots);
      CHECK(bytes <= 8 * slots * 1.07 + 4096);  // marks and the way to the next prime
      double const large_bytes = static_cast<double>(large::bytes_for(keys, load));
      CHECK(large_bytes >= 16 * slots);
      CHECK(large_bytes <= 16 * slots * 1.07 + 4096);
    }
  }
  CHECK(small::bytes_for(0) > 0);
}

}  // namespace
