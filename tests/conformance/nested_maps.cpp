// SPDX-License-Identifier: Apache-2.0
/// \file
/// The keys of one structure, in its order, into another one: none is refused, and nobody looks further than for shuffled keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <karpos/hash_map.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/partition.hpp>
#include <string>
#include <utility>
#include <vector>

#include "nested_orders.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;
using namespace karpos_test::nested;

/// A hash_map that shows its table.
struct probed_map : karpos::hash_map<u32, u32, space> {
  using probed_map::hash_map::hash_map;
  auto table() const { return this->m_storage.ref(); }
};
/// A hopscotch_map that shows its table.
struct hopping_map : karpos::hopscotch_map<u32, u32, space> {
  using hopping_map::hopscotch_map::hopscotch_map;
  auto table() const { return this->m_storage.ref(); }
};

/// Sums up the buckets up to each key's.
template <class Table>
struct count_buckets {
  Table table;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i, u64& sum) const {
    auto const holds = table.holds(keys(i));
    for (auto p = table.start(keys(i)); !table.past_end(p); table.advance(p)) {
      ++sum;
      for (int s = 0; s < Table::bucket_slots; ++s)
        if (holds(table.bucket(p)[s])) return;
    }
  }
};
u64 looks(probed_map const& map, std::vector<u32> const& keys) {
  u64 sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, keys.size()),
                          count_buckets<decltype(map.table())>{map.table(), to_space(keys)}, sum);
  return sum;
}
/// Sums up lines that are looked at for each key: one, and all others if it is far.
template <class Table>
struct count_lines {
  Table table;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i, u64& sum) const {
    using thread = karpos::device::tile_for<space, 1>;
    auto const at = table.lines().template find<karpos::device::access::shared>(
        thread{}, table.start(keys(i)), table.holds(keys(i)));
    sum += at.slot < karpos::detail::hopscotch::line_slots ? 1 : 3;
  }
};
u64 looks(hopping_map const& map, std::vector<u32> const& keys) {
  u64 sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, keys.size()),
                          count_lines<decltype(map.table())>{map.table(), to_space(keys)}, sum);
  return sum;
}

/// Inserts keys into a map that is made for them. Returns: what was looked at.
template <class Map>
u64 fill(std::vector<u32> const& keys, double load) {
  Map map(space{}, keys.size(), {.load = load, .growth = karpos::growth::fixed});
  same("inserted", map.insert(space{}, to_space(keys), 1u).inserted, keys.size());
  return looks(map, keys);
}
/// Shares of an order into maps that are made for them, at every load.
template <class Map>
void fill_with_shares(std::string const& what, std::vector<order> const& orders,
                      std::initializer_list<double> loads) {
  for (double const load : loads)
    for (auto const& [first, last] :
         {std::pair(0.0, 0.5), std::pair(0.0, 0.125), std::pair(0.6, 0.85)}) {
      auto const shuffled = share_of(orders.front().keys, first, last);
      u64 const usual = fill<Map>(shuffled, load);
      for (order const& o : orders) {
        INFO(o.name, " -> ", what, " at load ", load, ", from ", first, " to ", last);
        u64 const looked = fill<Map>(share_of(o.keys, first, last), load);
        CHECK(looked <= usual + usual / 2);
        CHECK(looked >= usual / 2);
      }
    }
}

/// How a map has grown when all keys are in.
struct growth_seen {
  u64 capacity = 0, times = 0;
};
/// Inserts keys in batches into a map that grows. None is refused.
template <class Map>
growth_seen grow(Map& map, std::vector<u32> const& keys, u64 batch) {
  auto const all = to_space(keys);
  u64 rejected = 0;
  growth_seen seen;
  for (u64 i = 0; i < keys.size(); i += batch) {
    auto const some =
        Kokkos::subview(all, std::pair<u64, u64>(i, std::min(i + batch, u64(keys.size()))));
    rejected += map.insert(space{}, some, 1u).rejected;
    seen.times += map.capacity() != seen.capacity;
    seen.capacity = map.capacity();
  }
  same("rejected", rejected, 0);
  same("keys", map.size(space{}), keys.size());
  return seen;
}
template <class Map>
growth_seen grow(std::vector<u32> const& keys, u64 batch) {
  Map map(space{}, 0, {.growth = karpos::growth::automatic});
  return grow(map, keys, batch);
}
template <class Map>
void grow_by_orders(std::string const& what, std::vector<order> const& orders) {
  for (u64 const batch : {1'000u, 10'000u}) {
    growth_seen const usual = grow<Map>(orders.front().keys, batch);
    for (order const& o : orders)
      for (auto const& [way, keys] : ways_through(o.keys)) {
        INFO(o.name, ", ", way, " -> ", what, ", ", batch, " keys at once");
        growth_seen const seen = grow<Map>(keys, batch);
        // A hopscotch_map grows when the first key is refused, which may be a batch earlier.
        CHECK(seen.capacity <= usual.capacity + usual.capacity / 4);
        CHECK(seen.times <= usual.times + 1);
      }
  }
}

/// Orders of hash_map, hopscotch_map and partition; the first one is none.
std::vector<order> orders_of_maps(u64 n) {
  auto const keys = karpos_test::unique_keys<u32>(n);
  std::vector<order> all{{"shuffled", keys}};
  auto const add_map = [&](std::string const& name, auto const& map) {
    view<u32> const out("keys", n), values("values", n);
    same(name, map.retrieve_all(space{}, out, values), n);
    all.push_back({name, karpos_test::to_host(out)});
  };
  probed_map a(space{}, n);
  a.insert(space{}, to_space(keys), 1u);
  add_map("hash_map", a);
  hopping_map b(space{}, n);
  b.insert(space{}, to_space(keys), 1u);
  add_map("hopscotch_map", b);
  hopping_map grown(space{}, 0);
  grow(grown, keys, n / 10);
  add_map("hopscotch_map that grew", grown);
  for (u64 const parts : {8, 60}) {
    view<u32> const out("keys", n);
    view<u64> const offsets("offsets", parts + 1);
    karpos::partition(space{}, to_space(keys), out, offsets);
    all.push_back({std::to_string(parts) + " parts", karpos_test::to_host(out)});
  }
  return all;
}

TEST_CASE("hash_map and hopscotch_map, made for shares of an order") {
  auto const orders = orders_of_maps(100'000);
  fill_with_shares<probed_map>("hash_map", orders, {0.5, 0.8, 0.9, 0.95, 0.98});
  fill_with_shares<hopping_map>("hopscotch_map", orders, {0.5, 0.8, 0.9});
}

TEST_CASE("hash_map and hopscotch_map that grow as keys come in an order") {
  auto const orders = orders_of_maps(60'000);
  grow_by_orders<probed_map>("hash_map", orders);
  grow_by_orders<hopping_map>("hopscotch_map", orders);
}

TEST_CASE("a map for each part of a partition") {
  u64 const n = 240'000, parts = 48;
  auto const keys = karpos_test::unique_keys<u32>(n);
  view<u32> const out("keys", n);
  view<u64> const offsets("offsets", parts + 1);
  karpos::partition(space{}, to_space(keys), out, offsets);
  auto const begins = karpos_test::to_host(offsets);
  u64 inserted = 0, capacity = 0;
  for (u64 p = 0; p < parts; ++p) {
    auto const part = Kokkos::subview(out, std::pair(begins[p], begins[p + 1]));
    probed_map a(space{}, part.extent(0));
    inserted += a.insert(space{}, part, 1u).inserted;
    hopping_map b(space{}, part.extent(0));
    inserted += b.insert(space{}, part, 1u).inserted;
    capacity += b.capacity();
  }
  CHECK(inserted == 2 * n);
  CHECK(capacity < n * 13 / 10);
}

}  // namespace
