// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bad arguments, and the maps that they leave behind. `Maps` names a kind of map: Maps::map<Key,
/// T>.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace karpos_test {

template <class Map>
std::unordered_set<typename Map::key_type> keys_in(Map const& map) {
  view<typename Map::key_type> const keys("keys", map.capacity());
  view<typename Map::mapped_type> const values("values", map.capacity());
  std::uint64_t const n = map.retrieve_all(space{}, keys, values);
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

/// Checks that a rehash that could not hold the keys throws before anything changes.
template <class Maps>
void a_rehash_that_would_not_hold_the_keys() {
  typename Maps::template map<std::uint64_t, std::uint64_t> map(space{}, 1000);
  auto const keys = unique_keys<std::uint64_t>(1000);
  map.insert(space{}, to_space(keys), std::uint64_t(1));
  std::uint64_t const capacity = map.capacity();
  throws<karpos::capacity_error>([&] { map.rehash(space{}, 999); }, "rehash", "1000", "999");
  throws<karpos::capacity_error>([&] { map.rehash(space{}, 0); }, "1000");
  CHECK(map.capacity() == capacity);
  CHECK(keys_in(map).size() == 1000);
}

/// Checks that keys equal to a sentinel are refused by an exception, and all others handled.
template <class Maps>
void keys_equal_to_a_sentinel() {
  using map_type = typename Maps::template map<std::uint32_t, std::uint32_t>;
  map_type map(space{}, 100);
  constexpr std::uint32_t largest = ~std::uint32_t(0);
  std::vector<std::uint32_t> const keys{1, largest, 2, largest - 1, 3, largest};
  auto const d_keys = to_space(keys);
  auto const sentinels = to_space(std::vector<std::uint32_t>{largest, largest - 1});
  throws<std::invalid_argument>([&] { map.insert(space{}, d_keys, 1u); }, "sentinel", "3 of 6");
  CHECK(keys_in(map) == std::unordered_set<std::uint32_t>{1, 2, 3});
  throws<std::invalid_argument>([&] { map.insert_or_assign(space{}, d_keys, 2u); }, "sentinel",
                                "3 of 6");
  throws<std::invalid_argument>([&] { map.insert_or_throw(space{}, d_keys, 2u); }, "sentinel");
  throws<std::invalid_argument>([&] { map.insert_or_apply(space{}, d_keys, 2u, karpos::plus{}); },
                                "sentinel");
  throws<std::invalid_argument>([&] { map.insert_if(space{}, d_keys, 2u, d_keys); }, "sentinel");
  CHECK(keys_in(map) == std::unordered_set<std::uint32_t>{1, 2, 3});

  typename map_type::report_view const report("report");
  map.insert_async(space{}, d_keys, 1u, report);
  space{}.fence();
  CHECK(bool(to_host_scalar(report) == karpos::insert_report{0, 3, 0, 3}));

  // Lookups do not find sentinels, in full and in empty tables.
  for (int round = 0; round < 2; ++round) {
    view<std::uint32_t> const out("out", 2);
    view<bool> const flags("flags", 2);
    Kokkos::deep_copy(flags, true);
    map.find(space{}, sentinels, out, 77u);
    map.contains(space{}, sentinels, flags);
    CHECK(to_host(out) == std::vector<std::uint32_t>{77, 77});
    auto const h_flags = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
    CHECK_FALSE(h_flags(0));
    CHECK_FALSE(h_flags(1));
    CHECK(map.erase(space{}, sentinels) == 0);
    map.clear(space{});
  }
  CHECK(map.size(space{}) == 0);
}

/// Checks that views of different lengths are refused before anything changes.
template <class Maps>
void views_of_different_lengths() {
  using map_type = typename Maps::template map<std::uint32_t, std::uint32_t>;
  map_type map(space{}, 100);
  map.insert(space{}, to_space(std::vector<std::uint32_t>{1, 2, 3}), 1u);
  view<std::uint32_t> const three("three", 3), four("four", 4);
  view<bool> const flags("flags", 4);
  typename map_type::report_view const report("report");
  auto const refused = [&](auto const& f) {
    throws<std::invalid_argument>(f, "3", "4", "karpos::");
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
  CHECK(keys_in(map) == std::unordered_set<std::uint32_t>{1, 2, 3});

  view<std::uint32_t> const two("two", 2);
  throws<std::invalid_argument>([&] { map.retrieve_all(space{}, two, two); }, "retrieve_all", "2",
                                "3");
}

/// Checks that loads out of range are refused, with their value in the message.
template <class Maps>
void loads_out_of_range() {
  using map_type = typename Maps::template map<std::uint32_t, std::uint32_t>;
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

/// Checks that tables that no memory can hold are refused, with their size in the message.
template <class Maps>
void tables_that_no_memory_can_hold() {
  using map_type = typename Maps::template map<std::uint64_t, std::uint64_t>;
  throws<std::length_error>([] { map_type(space{}, ~std::uint64_t(0)); }, "18446744073709551615",
                            "overflow");
  throws<std::length_error>([] { map_type::bytes_for(std::uint64_t(1) << 60); }, "overflow");
  throws<std::length_error>([] { map_type(space{}, 1000, {.load = 1e-300}); }, "overflow", "1000");
  if (dies_without_memory) {
    MESSAGE("skipped: the address sanitizer ends the program when memory runs out");
    return;
  }
  // Fits in 64 bits, but in no machine.
  throws<karpos::allocation_error>([] { map_type(space{}, std::uint64_t(1) << 46); },
                                   "out of memory", std::string(space::memory_space::name()));
  map_type map(space{}, 100);
  map.insert(space{}, to_space(unique_keys<std::uint64_t>(100)), std::uint64_t(1));
  throws<std::bad_alloc>([&] { map.rehash(space{}, std::uint64_t(1) << 46); }, "out of memory");
  CHECK(keys_in(map).size() == 100);
}

}  // namespace karpos_test
