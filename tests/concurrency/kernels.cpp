// SPDX-License-Identifier: Apache-2.0
/// \file
/// All operations concurrently in one kernel, on hot keys: their answers must add up.
#include <karpos/hash_map.hpp>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"
#include "support/uuid.hpp"

namespace {

using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::uuid;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Returns the value that belongs to a key: a half-written slot does not hold it.
template <class T, class Key>
KOKKOS_FUNCTION T value_of(Key key) {
  return static_cast<T>(karpos::mix(static_cast<u64>(key)) % 60000);
}

/// Inserts, erases or looks up one of the keys, by chance.
template <class Ref, class Key, class T>
struct mixed_operations {
  Ref ref;
  view<Key> keys;
  view<u32> inserted, erased;  ///< per key
  view<u64> wrong;             ///< one counter for all keys
  u64 seed;

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    u64 const random = karpos::mix(seed + i);
    u64 const k = (random >> 8) % keys.extent(0);
    Key const key = keys(k);
    T const value = value_of<T>(key);
    u32 added = 0, removed = 0, bad = 0;
    switch (random % 5) {
      case 0:
      case 1: {
        karpos::outcome const o = ref.insert(t, key, value);
        added = o == karpos::outcome::inserted;
        bad = o == karpos::outcome::full;
        break;
      }
      case 2:
        removed = ref.erase(t, key);
        break;
      case 3: {
        karpos::outcome const o = ref.insert_or_assign(t, key, value);
        added = o == karpos::outcome::inserted;
        bad = o == karpos::outcome::full;
        break;
      }
      default: {
        auto const f = ref.find(t, key);
        bad = f.present && !(f.value == value);
      }
    }
    t.once([&] {
      Kokkos::atomic_add(&inserted(k), added);
      Kokkos::atomic_add(&erased(k), removed);
      Kokkos::atomic_add(&wrong(0), static_cast<u64>(bad));
      return true;
    });
  }
};

template <class Key, class T, int B, int W>
void adds_up() {
  // Erased slots are not used again: a key that is erased and inserted repeatedly needs slots on
  // its own probe path, whose length is limited.
  constexpr u64 operations = 6000;
  using map_type = karpos::hash_map<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>,
                                    karpos::double_hashing, B>;
  for (u64 const hot : {1u, 3u, 100u}) {
    INFO("B = ", B, ", W = ", W, ", keys: ", hot);
    map_type map(space{}, operations);
    auto const keys = karpos_test::unique_keys<Key>(hot);
    mixed_operations<typename map_type::ref_type, Key, T> const body{map.ref(),
                                                                     to_space(keys),
                                                                     view<u32>("inserted", hot),
                                                                     view<u32>("erased", hot),
                                                                     view<u64>("wrong", 1),
                                                                     1000 * hot};
    karpos::device::for_each_tile<W>("karpos_test::mixed", space{}, operations, body);
    CHECK(to_host(body.wrong)[0] == 0);

    auto const inserted = to_host(body.inserted), erased = to_host(body.erased);
    view<bool> const flags("flags", hot);
    map.contains(space{}, body.keys, flags);
    auto const there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
    u64 size = 0;
    for (std::size_t k = 0; k < hot; ++k) {
      size += there(k);
      CHECK(inserted[k] - erased[k] == (there(k) ? 1 : 0));
    }
    CHECK(map.size(space{}) == size);
    view<Key> const keys_out("keys", hot);
    view<T> const values_out("values", hot);
    CHECK(map.retrieve_all(space{}, keys_out, values_out) == size);
    auto const h_keys = to_host(keys_out, size);
    auto const h_values = to_host(values_out, size);
    u64 wrong = 0;
    for (std::size_t i = 0; i < size; ++i) wrong += h_values[i] != value_of<T>(h_keys[i]);
    CHECK(wrong == 0);
  }
}

TEST_CASE("insert, erase and find in one kernel: 8-byte slots") {
  adds_up<u32, u32, 8, 1>();
  adds_up<u32, u32, 4, 4>();
  adds_up<u32, u32, 32, 32>();
}
TEST_CASE("insert, erase and find in one kernel: 16-byte slots") {
  adds_up<u64, u64, 4, 1>();
  adds_up<u64, u64, 2, 2>();
}
TEST_CASE("insert, erase and find in one kernel: 32-byte slots") {
  if constexpr (karpos::device::has_wide_cas<space>) {
    adds_up<uuid, u64, 1, 1>();
    adds_up<uuid, u64, 2, 2>();
  }
}

/// Inserts duplicates from all threads; each thread looks up its key at once.
template <class Ref, class Key, class T>
struct insert_and_find {
  Ref ref;
  view<Key> keys;
  view<u64> counts;  ///< inserted, existing, wrong

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, u64 i) const {
    Key const key = keys(i % keys.extent(0));
    karpos::outcome const o = ref.insert(t, key, value_of<T>(key));
    auto const f = ref.find(t, key);
    Key const other = keys(karpos::mix(i) % keys.extent(0));
    auto const g = ref.find(t, other);
    bool const bad = !f.present || !(f.value == value_of<T>(key)) ||
                     (g.present && !(g.value == value_of<T>(other)));
    t.once([&] {
      Kokkos::atomic_add(&counts(0), u64(o == karpos::outcome::inserted));
      Kokkos::atomic_add(&counts(1), u64(o == karpos::outcome::existing));
      Kokkos::atomic_add(&counts(2), u64(bad));
      return true;
    });
  }
};

template <class Key, class T, int W>
void inserted_once() {
  constexpr u64 different = 500, copies = 40;
  using map_type = karpos::hash_map<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>,
                                    karpos::linear_probing, 4>;
  for (int round = 0; round < 5; ++round) {
    INFO("W = ", W);
    map_type map(space{}, different);
    insert_and_find<typename map_type::ref_type, Key, T> const body{
        map.ref(), to_space(karpos_test::unique_keys<Key>(different, static_cast<u64>(round))),
        view<u64>("counts", 3)};
    karpos::device::for_each_tile<W>("karpos_test::insert", space{}, different * copies, body);
    CHECK(to_host(body.counts) == std::vector<u64>{different, different * (copies - 1), 0});
    CHECK(map.size(space{}) == different);
  }
}

TEST_CASE("duplicates from all threads are inserted once and found at once") {
  inserted_once<u32, u32, 1>();
  inserted_once<u32, u32, 4>();
  inserted_once<u64, u64, 1>();
  inserted_once<u64, u64, 4>();
  if constexpr (karpos::device::has_wide_cas<space>) inserted_once<uuid, u64, 1>();
}

}  // namespace
