// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys that are adjacent in one structure lie anywhere in another. Tests the functions that choose
/// places, without tables.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <karpos/detail/distributed/key_owner.hpp>
#include <karpos/detail/relational/join/split_rows.hpp>
#include <karpos/detail/relational/reduce_by_key/rows.hpp>
#include <karpos/detail/relational/row_index/slots.hpp>
#include <karpos/detail/tables/hopscotch/hop_word.hpp>
#include <karpos/detail/tables/open_addressing/ref.hpp>
#include <karpos/detail/tables/table_memory.hpp>
#include <karpos/detail/tables/unordered_map/table.hpp>
#include <karpos/detail/tables/unordered_map/traits.hpp>
#include <karpos/partition.hpp>
#include <karpos/probing.hpp>
#include <karpos/rows.hpp>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"

namespace {

using karpos::detail::hashed;
using karpos::detail::place_among;
using karpos_test::holds;
using karpos_test::same;
using host = Kokkos::DefaultHostExecutionSpace;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A structure for `keys` keys, and the place of each key in it. Only tables have a seed.
struct structure {
  std::string name;
  u64 keys, seed, places;
  std::function<u64(u32)> place;
};

/// Returns the tables for n keys, each as its code builds it.
std::vector<structure> tables_for(u64 n, u64 seed) {
  std::vector<structure> all;
  auto const add = [&](std::string const& name, u64 places, std::function<u64(u32)> place) {
    all.push_back({name, n, seed, places, std::move(place)});
  };
  auto const hash = [](u32 key) { return karpos::hash<u32>{}(key); };
  auto const add_table = [&](std::string const& name, auto const& table) {
    add(name, table.home().count(), [=](u32 key) { return table.home()(hash(key)); });
  };
  auto const open_table = [&]<int B>(u64 pairs, std::integral_constant<int, B>) {
    namespace open = karpos::detail::open_addressing;
    using traits = open::traits<u32, u32, host, karpos::hash<u32>, karpos::equal_to<u32>,
                                karpos::double_hashing, B>;
    return open::table_ref<traits>(nullptr, nullptr, pairs, {~0u, ~1u, ~2u}, {}, {}, false, seed);
  };
  u64 const slots = n + n / 4;
  std::integral_constant<int, 4> const four;
  add_table("hash_map", open_table(karpos::double_hashing::pair_count_for(slots / 8), four));
  add_table("hash_map by linear probing", open_table(slots / 8 + 4, four));
  add_table("hash_map of as many larger buckets",
            open_table(slots / 8 + 4, std::integral_constant<int, 8>()));
  {
    namespace unordered = karpos::detail::unordered_map;
    using traits =
        unordered::traits<u32, u32, host::device_type, karpos::hash<u32>, karpos::equal_to<u32>>;
    using map_table = unordered::table<traits>;
    u64 const pairs = karpos::double_hashing::pair_count_for(slots / 8);
    add_table("unordered_map", map_table({}, map_table::home_among(pairs, seed), {}, {}));
  }
  using lines = karpos::detail::hopscotch::line_geometry;
  lines const geometry(lines::lines_for(slots), seed);
  add("hopscotch_map", geometry.lines(), [=](u32 key) { return geometry.home_of(hash(key)); });
  u64 const of_hash =
      karpos::mix(karpos::mix(seed) + karpos::detail::place_multiplier(hashed::cuckoo, 2 * slots));
  add("cuckoo_map", slots / 8, [=](u32 key) {
    return karpos::detail::multiply_high_narrow(karpos::seeded_hash<u32>{}(key, of_hash),
                                                static_cast<u32>(slots / 8));
  });
  return all;
}
/// Returns the structures for n keys, each as its code builds it.
std::vector<structure> structures_for(u64 n, u64 seed) {
  std::vector<structure> all = tables_for(n, seed);
  auto const add = [&](std::string const& name, u64 places, std::function<u64(u32)> place) {
    all.push_back({name, n, 0, places, std::move(place)});
  };
  karpos::detail::row_index::slot_table<host, u32> const index(nullptr, (2 * n + 8) / 8 * 8);
  add("row_index", index.slots, [=](u32 key) { return index.home_of(karpos::row_hash{}(key)); });
  place_among const distinct(hashed::distinct_keys, 2 * n + 1);
  add("different keys of a cuckoo_map", 2 * n + 1,
      [=](u32 key) { return distinct(karpos::mix(key)); });
  auto const partitions = static_cast<u32>(n / 512);
  karpos::hash_partitioner<u32> const partition_of(partitions);
  add("partition", partitions, [=](u32 key) { return partition_of(key); });
  for (u64 const round : {0, 1}) {
    karpos::detail::reduce_by_key::partition_of_bits const by(partitions, round);
    std::string const name = "reduce_by_key, round " + std::to_string(round);
    add(name + ", 4 bytes", partitions,
        [=](u32 key) { return by(karpos::detail::reduce_by_key::mixed(key)); });
    add(name + ", 8 bytes", partitions,
        [=](u32 key) { return by(karpos::detail::reduce_by_key::mixed(u64(key))); });
  }
  int bits = 0;
  while (u64(2) << bits <= partitions) ++bits;
  auto const high_bits = [=](auto word) { return word >> (8 * sizeof(word) - bits); };
  namespace join = karpos::detail::join;
  u64 const multiplier = join::word_multiplier(bits);
  auto const add_join = [&]<class Key, bool IsExact>(std::string const& name, Key,
                                                     std::bool_constant<IsExact>) {
    using column = Kokkos::View<Key*, Kokkos::HostSpace>;
    using rows = decltype(karpos::rows(column()));
    column const one("one key", 1);
    join::rows_to_split<rows, rows, IsExact> const source{karpos::rows(one), karpos::rows(one),
                                                          multiplier};
    add("join, " + name, u64(1) << bits, [=](u32 key) {
      one(0) = key;
      return high_bits(source.load(0));
    });
  };
  add_join("words of 4 bytes", u32(), std::true_type());
  add_join("words of 8 bytes", u64(), std::true_type());
  add_join("hashes", u64(), std::false_type());
  for (u32 const ranks : {8u, 24u}) {
    auto const of_size = static_cast<u32>(ranks * n >> 15);
    karpos::detail::distributed::key_owner<u32> const owner{of_size};
    add("owners among " + std::to_string(ranks), of_size, [=](u32 key) { return owner(key); });
  }
  return all;
}

/// Returns how unevenly keys lie over the places of a structure, in standard deviations: about 0 by
/// chance, far above 5 if keys crowd.
///
/// Source: Wilson, Hilferty, "The distribution of chi-square", 1931.
double crowding(std::vector<u32> const& keys, structure const& s) {
  u64 const bins = std::min(s.places, u64(64));
  std::vector<double> count(bins), places(bins);
  for (u64 p = 0; p < s.places; ++p) places[p * bins / s.places] += 1;
  for (u32 const key : keys) count[s.place(key) * bins / s.places] += 1;
  double sum = 0;
  for (u64 b = 0; b < bins; ++b) {
    double const mean = static_cast<double>(keys.size()) * places[b] / double(s.places);
    sum += (count[b] - mean) * (count[b] - mean) / mean;
  }
  double const k = static_cast<double>(bins - 1), spread = 2 / (9 * k);
  return (std::cbrt(sum / k) - (1 - spread)) / std::sqrt(spread);
}

TEST_CASE("shares of one structure's order, in every other structure of every size and seed") {
  constexpr u64 n = 1 << 15;
  std::vector<structure> all;
  auto const add = [&](std::vector<structure> const& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  u64 const seed = karpos::detail::next_seed();
  for (u64 const keys : {n, n / 2, n / 3, n / 8}) add(structures_for(keys, seed));
  for (u64 const other : {u64(0), u64(1), seed + 1, karpos::detail::next_seed()})
    add(tables_for(n, other));
  auto const keys = karpos_test::unique_keys<u32>(n);
  double most = 0;
  std::string where;
  u64 crowded = 0, alike = 0;
  for (structure const& from : all) {
    if (from.places < 2) continue;
    std::vector<std::pair<u64, u32>> order;
    for (u32 const key : keys) order.push_back({from.place(key), key});
    std::sort(order.begin(), order.end());
    for (auto const& [first, last] :
         {std::pair(u64(0), n / 2), std::pair(u64(0), n / 8), std::pair(n / 8 * 5, n / 4 * 3)}) {
      std::vector<u32> share;
      for (u64 i = first; i < last; ++i) share.push_back(order[i].second);
      for (structure const& to : all) {
        if (to.places < 2) continue;
        double const by = crowding(share, to);
        if (from.name == to.name && from.places == to.places && from.seed == to.seed) {
          alike += by > 20;  // the test detects crowding
          continue;
        }
        crowded += by > 5;
        if (by > most) {
          most = by;
          where = from.name + " for " + std::to_string(from.keys) + " keys -> " + to.name +
                  " for " + std::to_string(to.keys);
        }
      }
    }
  }
  INFO(where, ": ", most);
  same("structures that keys crowd in", crowded, 0);
  holds("crowds are seen", alike > 3 * all.size() / 2);
}

TEST_CASE("keys of one partition of a reduction spread over the slots of its table") {
  namespace reduce = karpos::detail::reduce_by_key;
  constexpr u32 slots = 4096;
  std::vector<u32> count(slots);
  u64 wrong = 0;
  u32 most = 0;
  for (u64 partitions = 1; partitions <= 1000; ++partitions) {
    reduce::partition_of_bits const partition_of(partitions, 0);
    auto const inverse = reduce::inverse_of_odd(static_cast<u32>(partition_of.multiplier));
    // As many keys of partition 0 as there are slots, at equal distances.
    u64 const apart = (u64(1) << 32) / partitions / slots;
    std::fill(count.begin(), count.end(), 0);
    for (u64 i = 0; i < slots; ++i) {
      u32 const mixed = static_cast<u32>(i * apart) * inverse;
      wrong += partition_of(mixed) != 0;
      most = std::max(most, ++count[karpos::detail::by_low_bits(mixed, slots)]);
    }
  }
  CHECK(wrong == 0);
  CHECK(most < 24);
}

}  // namespace
