// SPDX-License-Identifier: Apache-2.0
/// \file
/// Full tables, bad arguments, and what is left afterwards.
#include <chrono>
#include <cmath>
#include <karpos/hash_map.hpp>
#include <unordered_set>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define KARPOS_TEST_ADDRESS_SANITIZER 1
#endif

namespace {

using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Map>
std::unordered_set<typename Map::key_type> keys_in(Map const& map) {
  view<typename Map::key_type> const keys("keys", map.capacity());
  view<typename Map::mapped_type> const values("values", map.capacity());
  u64 const n = map.retrieve_all(space{}, keys, values);
  auto const all = to_host(keys, n);
  std::unordered_set<typename Map::key_type> const different(all.begin(), all.end());
  same("no key is there twice", different.size(), n);
  return different;
}

template <class Key>
std::vector<Key> part(std::vector<Key> const& v, std::size_t first, std::size_t last) {
  return {v.begin() + static_cast<std::ptrdiff_t>(first),
          v.begin() + static_cast<std::ptrdiff_t>(last)};
}

/// Fills a table to the last slot, and offers more.
template <class Key, class T, class Probing, int B>
void fills_to_the_last_slot(u64 max_keys) {
  karpos::hash_map<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B> map(
      space{}, max_keys);
  std::size_t const slots = map.capacity();
  INFO("slots: ", slots, " in buckets of ", B);
  auto const keys = unique_keys<Key>(3 * slots);
  auto const exact = part(keys, 0, slots);
  auto const more = part(keys, slots, 3 * slots);
  CHECK(bool(map.insert(space{}, to_space(exact), T(1)) == karpos::insert_report{slots, 0, 0, 0}));
  CHECK(
      bool(map.insert(space{}, to_space(more), T(2)) == karpos::insert_report{0, 0, 2 * slots, 0}));
  CHECK(bool(map.insert_or_apply(space{}, to_space(keys), T(2), karpos::plus{}) ==
             karpos::insert_report{0, slots, 2 * slots, 0}));
  view<T> const out("out", 3 * slots);
  map.find(space{}, to_space(keys), out, T(7));
  std::vector<T> expected(3 * slots, T(7));
  for (std::size_t i = 0; i < slots; ++i) expected[i] = T(3);
  CHECK(bool(to_host(out) == expected));

  // An erased slot is not used again before a rehash; then it is.
  std::size_t const half = slots / 2;
  CHECK(map.erase(space{}, to_space(part(keys, 0, half))) == half);
  CHECK(map.insert(space{}, to_space(more), T(2)).rejected == 2 * slots);
  CHECK(map.size(space{}) == slots - half);
  map.rehash(space{}, slots);
  auto const r = map.insert(space{}, to_space(part(more, 0, half)), T(2));
  CHECK(bool(r == karpos::insert_report{half, 0, 0, 0}));
  CHECK(map.size(space{}) == slots);
}

TEST_CASE("a table is filled to its last slot, and says when it is full") {
  fills_to_the_last_slot<u32, u32, karpos::linear_probing, 1>(1);
  fills_to_the_last_slot<u32, u32, karpos::linear_probing, 8>(2000);
  fills_to_the_last_slot<u32, u32, karpos::double_hashing, 4>(2000);
  fills_to_the_last_slot<u64, u64, karpos::double_hashing, 2>(1000);
  fills_to_the_last_slot<u64, u64, karpos::linear_probing, 4>(1000);
}

/// All threads storm a table that holds a fraction of their keys.
template <class Key, class T, class Probing, int B>
void storms_a_small_table(u64 max_keys) {
  karpos::hash_map<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B> map(
      space{}, max_keys);
  u64 const slots = map.capacity();
  auto const keys = unique_keys<Key>(2 * slots, 1);
  auto draws = karpos_test::skewed_draws(keys, 5 * slots, 61);
  draws.insert(draws.end(), keys.begin(), keys.end());
  auto const r = map.insert(space{}, to_space(draws), T(1));
  INFO("slots: ", slots, " in buckets of ", B);
  CHECK(r.inserted + r.existing + r.rejected == draws.size());
  CHECK(r.rejected > 0);
  auto const in = keys_in(map);
  CHECK(r.inserted == in.size());
  if (map.bucket_count() <= Probing::probe_limit) CHECK(in.size() == slots);
  std::unordered_set<Key> const offered(draws.begin(), draws.end());
  u64 foreign = 0, draws_of_accepted = 0;
  for (Key const& key : in) foreign += offered.count(key) == 0;
  for (Key const& key : draws) draws_of_accepted += in.count(key);
  CHECK(foreign == 0);
  // Whoever was accepted was so once and for all: every other draw of such a key is told `existing`.
  CHECK(r.existing == draws_of_accepted - in.size());
  CHECK(r.rejected == draws.size() - draws_of_accepted);

  view<bool> const flags("flags", keys.size());
  map.contains(space{}, to_space(keys), flags);
  auto const h_flags = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
  u64 wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) wrong += h_flags(i) != (in.count(keys[i]) != 0);
  CHECK(wrong == 0);
}

TEST_CASE(
    "more keys than fit, from all threads: nothing accepted is lost, and there is an end to it") {
  auto const start = std::chrono::steady_clock::now();
  for (int round = 0; round < 20; ++round) {
    storms_a_small_table<u32, u32, karpos::double_hashing, 4>(1 + static_cast<u64>(round) * 10);
    storms_a_small_table<u64, u64, karpos::linear_probing, 2>(1 + static_cast<u64>(round) * 10);
  }
  storms_a_small_table<u32, u32, karpos::linear_probing, 8>(10000);
  storms_a_small_table<u64, u64, karpos::linear_probing, 2>(5000);
  // More buckets than the probe limit of double hashing.
  storms_a_small_table<u32, u32, karpos::double_hashing, 1>(20000);
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
  CHECK(seconds.count() < 60);
}

TEST_CASE("insert_or_throw names what was asked, what was found and what will do") {
  karpos::hash_map<u32, u32, space> map(space{}, 100);
  std::size_t const slots = map.capacity();
  auto const keys = to_space(unique_keys<u32>(slots + 50));
  std::string const asked = std::to_string(slots + 50), found = std::to_string(slots);
  throws<karpos::capacity_error>([&] { map.insert_or_throw(space{}, keys, 1u); },
                                 "asked for " + asked, "found room for " + found,
                                 "max_keys >= " + asked);
  CHECK(map.size(space{}) == slots);
  u64 would_do = 0;
  try {
    map.insert_or_throw(space{}, keys, 1u);
  } catch (karpos::capacity_error const& e) {
    CHECK(e.found() == slots);
    would_do = e.would_do();
  }
  map.rehash(space{}, would_do);
  CHECK(map.insert_or_throw(space{}, keys, 1u).existing == slots);
  CHECK(map.size(space{}) == slots + 50);
}

TEST_CASE("a rehash that would not hold the keys throws before anything changes") {
  karpos::hash_map<u64, u64, space> map(space{}, 1000);
  auto const keys = unique_keys<u64>(1000);
  map.insert(space{}, to_space(keys), u64(1));
  u64 const capacity = map.capacity();
  throws<karpos::capacity_error>([&] { map.rehash(space{}, 999); }, "rehash", "1000", "999");
  throws<karpos::capacity_error>([&] { map.rehash(space{}, 0); }, "1000");
  CHECK(map.capacity() == capacity);
  CHECK(keys_in(map).size() == 1000);
}

TEST_CASE("keys equal to a sentinel are refused; the others are handled") {
  using map_type = karpos::hash_map<u32, u32, space>;
  map_type map(space{}, 100);
  constexpr u32 largest = ~u32(0);
  std::vector<u32> const keys{1, largest, 2, largest - 1, 3, largest};
  auto const d_keys = to_space(keys);
  auto const sentinels = to_space(std::vector<u32>{largest, largest - 1});
  throws<std::invalid_argument>([&] { map.insert(space{}, d_keys, 1u); }, "sentinel", "3 of 6");
  CHECK(keys_in(map) == std::unordered_set<u32>{1, 2, 3});
  throws<std::invalid_argument>([&] { map.insert_or_assign(space{}, d_keys, 2u); }, "sentinel",
                                "3 of 6");
  throws<std::invalid_argument>([&] { map.insert_or_throw(space{}, d_keys, 2u); }, "sentinel");
  throws<std::invalid_argument>([&] { map.insert_or_apply(space{}, d_keys, 2u, karpos::plus{}); },
                                "sentinel");
  throws<std::invalid_argument>([&] { map.insert_if(space{}, d_keys, 2u, d_keys); }, "sentinel");
  CHECK(keys_in(map) == std::unordered_set<u32>{1, 2, 3});

  map_type::report_view const report("report");
  map.insert_async(space{}, d_keys, 1u, report);
  space{}.fence();
  CHECK(bool(karpos_test::to_host_scalar(report) == karpos::insert_report{0, 3, 0, 3}));

  // Asked for, they are not there, in full and in empty tables.
  for (int round = 0; round < 2; ++round) {
    view<u32> const out("out", 2);
    view<bool> const flags("flags", 2);
    Kokkos::deep_copy(flags, true);
    map.find(space{}, sentinels, out, 77u);
    map.contains(space{}, sentinels, flags);
    CHECK(to_host(out) == std::vector<u32>{77, 77});
    auto const h_flags = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
    CHECK_FALSE(h_flags(0));
    CHECK_FALSE(h_flags(1));
    CHECK(map.erase(space{}, sentinels) == 0);
    map.clear(space{});
  }
  CHECK(map.size(space{}) == 0);
}

TEST_CASE("views of different lengths are refused before anything changes") {
  using map_type = karpos::hash_map<u32, u32, space>;
  map_type map(space{}, 100);
  map.insert(space{}, to_space(std::vector<u32>{1, 2, 3}), 1u);
  view<u32> const three("three", 3), four("four", 4);
  view<bool> const flags("flags", 4);
  map_type::report_view const report("report");
  auto const refused = [&](auto const& f) {
    throws<std::invalid_argument>(f, "3", "4", "karpos: ");
  };
  refused([&] { map.insert(space{}, three, four); });
  refused([&] { map.insert(space{}, four, three); });
  refused([&] { map.insert_or_throw(space{}, three, four); });
  refused([&] { map.insert_or_assign(space{}, three, four); });
  refused([&] { map.insert_or_apply(space{}, three, four, karpos::plus{}); });
  refused([&] { map.insert_if(space{}, three, three, four); });
  refused([&] { map.insert_if(space{}, three, four, three); });
  refused([&] { map.insert_async(space{}, three, four, report); });
  refused([&] { map.insert_or_assign_async(space{}, three, four, report); });
  refused([&] { map.insert_or_apply_async(space{}, three, four, karpos::plus{}, report); });
  refused([&] { map.find(space{}, three, four, 0u); });
  refused([&] { map.find_if(space{}, three, four, 0u, three); });
  refused([&] { map.find_if(space{}, three, three, 0u, four); });
  refused([&] { map.contains(space{}, three, flags); });
  refused([&] { map.contains_if(space{}, four, flags, three); });
  refused([&] { map.retrieve_all(space{}, three, four); });
  CHECK(keys_in(map) == std::unordered_set<u32>{1, 2, 3});

  view<u32> const two("two", 2);
  throws<std::invalid_argument>([&] { map.retrieve_all(space{}, two, two); }, "retrieve_all", "2",
                                "3");
}

TEST_CASE("loads outside (0, 0.98] are refused with their value") {
  using map_type = karpos::hash_map<u32, u32, space>;
  auto const made = [](double load) { return [load] { map_type(space{}, 100, {.load = load}); }; };
  throws<std::invalid_argument>(made(0.0), "load", "0.0");
  throws<std::invalid_argument>(made(-0.5), "load", "-0.5");
  throws<std::invalid_argument>(made(0.99), "load", "0.99", "0.98");
  throws<std::invalid_argument>(made(std::nan("")), "load", "nan");
  throws<std::invalid_argument>(made(INFINITY), "load", "inf");
  throws<std::invalid_argument>([] { map_type::bytes_for(100, 1.0); }, "load");
  CHECK(map_type(space{}, 100, {.load = 0.98}).capacity() >= 102);
  CHECK(map_type(space{}, 100, {.load = 0.01}).capacity() >= 10000);
}

TEST_CASE("tables that no memory can hold are refused with their size") {
  using map_type = karpos::hash_map<u64, u64, space>;
  throws<std::length_error>([] { map_type(space{}, ~u64(0)); }, "18446744073709551615", "overflow");
  throws<std::length_error>([] { map_type::bytes_for(u64(1) << 60); }, "overflow");
  throws<std::length_error>([] { map_type(space{}, 1000, {.load = 1e-300}); }, "overflow", "1000");
#ifdef KARPOS_TEST_ADDRESS_SANITIZER
  MESSAGE("skipped: the address sanitizer ends the program when memory runs out");
#else
  // Fits in 64 bits, and in no machine.
  throws<karpos::allocation_error>([] { map_type(space{}, u64(1) << 46); }, "out of memory",
                                   std::string(space::memory_space::name()));
  map_type map(space{}, 100);
  map.insert(space{}, to_space(unique_keys<u64>(100)), u64(1));
  throws<std::bad_alloc>([&] { map.rehash(space{}, u64(1) << 46); }, "out of memory");
  CHECK(keys_in(map).size() == 100);
#endif
}

}  // namespace
