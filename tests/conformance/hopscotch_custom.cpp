// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parts of a hopscotch_map that a user may supply, and hashes that spread keys badly.
#include <algorithm>
#include <exception>
#include <karpos/hopscotch_map.hpp>

#include "conformance/custom_suite.hpp"
#include "support/hopscotch_inspect_map.hpp"
#include "support/memory_limit.hpp"
#include "support/places.hpp"

namespace {

using karpos_test::constant_hash;
using karpos_test::identity_hash;
using karpos_test::inserts_finds_and_erases;
using karpos_test::memory_limit;
using karpos_test::space;
using karpos_test::to_host_scalar;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct custom_maps {
  template <class Key, class T, class Hash = karpos::hash<Key>,
            class KeyEqual = karpos::equal_to<Key>>
  using map = karpos::hopscotch_map<Key, T, space, Hash, KeyEqual>;
};

TEST_CASE("hopscotch_map: an equality of the user's decides what is a duplicate") {
  karpos_test::an_equality_decides<custom_maps>();
}
TEST_CASE("hopscotch_map: queries may have a type of their own") {
  karpos_test::queries_have_a_type_of_their_own<custom_maps>();
}
TEST_CASE("hopscotch_map: with sentinels of the user's, the largest keys can be stored") {
  karpos_test::the_largest_keys_can_be_stored<custom_maps>();
}
TEST_CASE("hopscotch_map: keys with bits to spare give no key up") {
  karpos_test::keys_with_bits_to_spare<custom_maps>();
}
TEST_CASE("hopscotch_map: enumerations, structures and floating point numbers are keys too") {
  karpos_test::keys_of_odd_types<custom_maps>();
}
TEST_CASE("hopscotch_map: a hash that does not mix is mixed: consecutive keys do not crowd") {
  std::vector<u32> keys(20000);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = i;
  inserts_finds_and_erases(custom_maps::map<u32, u32, identity_hash>(space{}, 10000), keys);
}

/// A hash that gives the last home of a table for 1,000 keys with the seed 0.
struct last_home_hash {
  using is_avalanching = void;
  static constexpr u64 slots = 1260;
  KOKKOS_FUNCTION u64 operator()(u32) const {
    constexpr karpos_test::hash_of_place hash(karpos::detail::hashed::hopscotch, slots);
    return hash(~u64(0));
  }
};

/// Checks keys with one home: only the slots of its neighbourhood can store them.
template <class Hash>
void one_home() {
  using map_type = custom_maps::map<u32, u32, Hash>;
  auto const keys = unique_keys<u32>(64);
  inserts_finds_and_erases(map_type(space{}, 1000, {.seed = 0}), unique_keys<u32>(64));
  map_type map(space{}, 1000, {.seed = 0});
  CHECK(map.capacity() == last_home_hash::slots);
  typename map_type::report_view const report("report");
  for (int round = 0; round < 20; ++round) {
    map.insert_async(space{}, to_space(keys), 1u, report);
    auto const r = to_host_scalar(report);
    CHECK(r.inserted == 32);
    CHECK(r.existing == 0);
    CHECK(r.rejected == 32);
    karpos_test::check_map_in_order("full", map, 32);
    view<u32> const out("out", keys.size());
    map.find(space{}, to_space(keys), out, 0u);
    auto const found = karpos_test::to_host(out);
    CHECK(std::count(found.begin(), found.end(), 1u) == 32);
    CHECK(map.erase(space{}, to_space(keys)) == 32);
    karpos_test::check_map_in_order("erased", map, 0);
  }
}

TEST_CASE("hopscotch_map: of keys with one home, 32 fit, and no more are lost than are rejected") {
  one_home<constant_hash>();
  one_home<last_home_hash>();
}

TEST_CASE("hopscotch_map: where growth does not help there is an end to it") {
  using map_type = custom_maps::map<u32, u32, constant_hash>;
  map_type map(space{}, 1000);
  u64 const slots = map.capacity();
  auto const keys = to_space(unique_keys<u32>(40));
  bool said = false;
  {
    memory_limit const limit(rlim_t(1) << 30);
    try {
      said = map.insert(space{}, keys, 1u).rejected == 8;
    } catch (std::exception const& e) {
      said = std::string(e.what()).find("karpos") != std::string::npos;
      MESSAGE("it says: ", e.what());
    }
  }
  CHECK(said);
  CHECK(map.capacity() <= 16 * slots);  // gives up before it uses all memory
  karpos_test::check_map_in_order("after all", map, 32);
}

/// Functions for which a key is an index: any other number would be out of bounds.
struct table_of_names {
  static constexpr u32 count = 300;
  u64 const* hashes;
  u32* strangers;
  KOKKOS_FUNCTION u64 at(u32 key) const {
    if (key >= count) Kokkos::atomic_add(strangers, 1u);
    return hashes[key < count ? key : 0];
  }
};
struct name_hash {
  using is_avalanching = void;
  table_of_names names;
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return names.at(key); }
};
struct name_equal {
  table_of_names names;
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return names.at(a) == names.at(b); }
};

TEST_CASE("hopscotch_map: hash and equality see keys only") {
  std::vector<u64> hashes(table_of_names::count);
  for (u32 i = 0; i < hashes.size(); ++i) hashes[i] = karpos::mix(i + 1);
  auto const d_hashes = to_space(hashes);
  view<u32> const strangers("strangers", 1);
  table_of_names const names{d_hashes.data(), strangers.data()};
  custom_maps::map<u32, u32, name_hash, name_equal> map(space{}, 270, {.load = 0.95},
                                                        name_hash{names}, name_equal{names});
  std::vector<u32> keys(table_of_names::count);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = i;
  auto const d_keys = to_space(keys);
  decltype(map)::report_view const report("report");
  view<u32> const out("out", keys.size());
  for (int round = 0; round < 10; ++round) {
    map.insert_async(space{}, d_keys, 1u, report);
    map.find(space{}, d_keys, out, 0u);
    map.insert_or_apply(space{}, d_keys, 1u, karpos::plus{});
    map.erase(space{}, Kokkos::subview(d_keys, std::pair<u64, u64>(20 * round, 20 * round + 100)));
  }
  CHECK(karpos_test::to_host(strangers)[0] == 0);
}

TEST_CASE("hopscotch_map: functions and views of any kind are taken") {
  karpos_test::functions_and_views_of_any_kind<custom_maps>();
}

}  // namespace
