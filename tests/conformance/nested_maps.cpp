// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of one structure, in its order, inserted into another: none is rejected, and probes are no
/// longer than for shuffled keys.
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

/// A hash_map that exposes its table.
struct probed_map : karpos::hash_map<u32, u32, space> {
  using probed_map::hash_map::hash_map;
  static u64 most_rejected(u64, double) { return 0; }
  auto table() const { return this->m_storage.ref(); }
};
/// A hopscotch_map that exposes its table.
struct hopping_map : karpos::hopscotch_map<u32, u32, space> {
  using hopping_map::hopscotch_map::hopscotch_map;
  /// Concurrent insertions may leave a few keys of millions without a place at load 0.9: on an H200
  /// 9 keys of 52 million random ones (docs/design/hopscotch.md).
  static u64 most_rejected(u64 keys, double load) { return load < 0.9 ? 0 : keys / 4096; }
  auto table() const { return this->m_storage.ref(); }
};

u64 probes(probed_map const& map, std::vector<u32> const& keys) {
  u64 sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, keys.size()),
                          count_buckets<decltype(map.table())>{map.table(), to_space(keys)}, sum);
  return sum;
}
/// Sums the lines that lookups read: one for a key in its home line, else three.
template <class Table>
struct count_lines {
  Table table;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i, u64& sum) const {
    using thread = karpos::device::tile_for<space, 1>;
    auto const at = table.template find<karpos::device::access::shared>(
        thread{}, table.start(keys(i)), table.holds(keys(i)));
    sum += at.slot < karpos::detail::hopscotch::line_slots ? 1 : 3;
  }
};
u64 probes(hopping_map const& map, std::vector<u32> const& keys) {
  u64 sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, keys.size()),
                          count_lines<decltype(map.table())>{map.table(), to_space(keys)}, sum);
  return sum;
}

template <class Map>
void insert_all(Map& map, std::vector<u32> const& keys, double load) {
  auto const report = map.insert(space{}, to_space(keys), 1u);
  CHECK(report.inserted + report.rejected == keys.size());
  CHECK(report.rejected <= Map::most_rejected(keys.size(), load));
}
/// Inserts keys into a map made for them. Returns: the probes of their lookups.
template <class Map>
u64 fill(std::vector<u32> const& keys, double load) {
  Map map(space{}, keys.size(), {.load = load, .growth = karpos::growth::fixed});
  insert_all(map, keys, load);
  return probes(map, keys);
}
/// Inserts shares of each order into maps made for them, at every load.
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
        u64 const count = fill<Map>(share_of(o.keys, first, last), load);
        CHECK(count <= usual + usual / 2);
        CHECK(count >= usual / 2);
      }
    }
}

/// Returns the first k-th part of each of k full maps of one size, in the order of their tables.
template <class Map>
std::vector<u32> parts_of_full_maps(std::vector<u32> const& keys, u64 k, double load) {
  u64 const n = keys.size() / k;
  view<u32> const out("keys", n), values("values", n);
  std::vector<u32> parts;
  for (u64 m = 0; m < k; ++m) {
    Map map(space{}, n, {.load = load, .growth = karpos::growth::fixed});
    insert_all(map, share_of(keys, double(m) / double(k), double(m + 1) / double(k)), load);
    CHECK(map.retrieve_all(space{}, out, values) >= n - Map::most_rejected(n, load));
    auto const order = karpos_test::to_host(out);
    parts.insert(parts.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n / k));
  }
  return parts;
}
/// Inserts these parts into another map of that size.
template <class Map>
void fill_with_parts(std::string const& what) {
  constexpr u64 n = 1 << 15;
  auto const keys = karpos_test::unique_keys<u32>(8 * n);
  for (u64 const k : {2, 8})
    for (double const load : {0.5, 0.7, 0.8, 0.9}) {
      INFO("parts of ", k, " full maps -> ", what, " at load ", load);
      auto const of_maps = share_of(keys, 0, double(k) / 8);
      u64 const usual = fill<Map>(share_of(keys, 0, 0.125), load);
      CHECK(fill<Map>(parts_of_full_maps<Map>(of_maps, k, load), load) <= usual + usual / 2);
    }
}

/// Inserts the first halves of two maps of one seed into a third one of that seed and size, whose
/// first half they crowd: paths must lead out of it. (Tables of one's own memory have one seed.)
void fill_with_halves_of_one_seed() {
  constexpr u64 n = 1 << 22;
  karpos::hash_table_options<u32> const options{
      .load = 0.8, .growth = karpos::growth::fixed, .seed = 5};
  auto const keys = karpos_test::unique_keys<u32>(2 * n);
  view<u32> const halves("keys", n), out("keys", n), values("values", n);
  for (u64 m : {0u, 1u}) {
    probed_map map(space{}, n, options);
    auto const of_map = share_of(keys, double(m) / 2, double(m + 1) / 2);
    same("inserted", map.insert(space{}, to_space(of_map), 1u).inserted, n);
    same("retrieved", map.retrieve_all(space{}, out, values), n);
    Kokkos::deep_copy(Kokkos::subview(halves, std::pair(m * n / 2, (m + 1) * n / 2)),
                      Kokkos::subview(out, std::pair(u64(0), n / 2)));
  }
  probed_map map(space{}, n, options);
  u64 const rejected = map.insert(space{}, halves, 1u).rejected;
  INFO(rejected, " keys of ", n, " rejected");
  CHECK(rejected <= n / 2000);
}

/// Returns where a map places some hashes.
u64 place(probed_map const& map, u64 hash) { return map.table().home_of(hash); }
u64 place(hopping_map const& map, u64 hash) { return map.table().geometry().home_of(hash); }
template <class Map>
std::vector<u64> places(Map const& map) {
  std::vector<u64> all;
  for (u64 i = 1; i <= 64; ++i) all.push_back(place(map, karpos::mix(i)));
  return all;
}
template <class Map>
void seeds_and_copies() {
  u64 const n = 1000;
  auto const keys = karpos_test::unique_keys<u32>(n);
  auto const in = to_space(keys);
  Map const chosen(space{}, n, {.seed = 5}), equal(space{}, n, {.seed = 5}),
      another(space{}, n, {.seed = 6});
  Map map(space{}, n), copy(space{}, n);
  CHECK(places(chosen) == places(equal));
  CHECK(places(chosen) != places(another));
  CHECK(places(chosen) != places(map));
  CHECK(places(map) != places(copy));

  auto const before = places(map);
  auto const holds_keys = [&](std::string const& what, Map const& m) {
    INFO(what);
    CHECK(places(m) == before);
    view<bool> const out("out", n);
    m.contains(space{}, in, out);
    space{}.fence();
    auto const found = karpos_test::to_host(out);
    CHECK(std::count(found.begin(), found.end(), true) == static_cast<std::ptrdiff_t>(n));
  };
  map.insert(space{}, in, 1u);
  deep_copy(space{}, copy, map);
  holds_keys("copied", copy);
  Map moved = std::move(copy);
  holds_keys("moved", moved);
  moved.rehash(space{}, n);
  holds_keys("rehashed", moved);
  moved.rehash(space{}, 3 * n);
  moved.rehash(space{}, n);
  holds_keys("rehashed twice", moved);
  moved.clear(space{});
  moved.insert(space{}, in, 1u);
  holds_keys("cleared", moved);
  Map assigned;
  assigned = std::move(moved);
  holds_keys("assigned", assigned);
  std::swap(assigned, map);
  holds_keys("swapped", map);
}

/// How far a map has grown when all keys are stored.
struct growth_seen {
  u64 capacity = 0, times = 0;
};
/// Inserts keys in batches into a growing map; none may be rejected.
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
        // A hopscotch_map grows when it rejects the first key, which may be one batch earlier.
        CHECK(seen.capacity <= usual.capacity + usual.capacity / 4);
        CHECK(seen.times <= usual.times + 1);
      }
  }
}

/// Returns orders of hash_map, hopscotch_map and partition; the first order is a random one.
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
  for (u64 const partitions : {8, 60}) {
    view<u32> const out("keys", n);
    view<u64> const offsets("offsets", partitions + 1);
    karpos::partition(space{}, to_space(keys), out, offsets);
    all.push_back({std::to_string(partitions) + " partitions", karpos_test::to_host(out)});
  }
  return all;
}

TEST_CASE("hash_map and hopscotch_map, made for shares of an order") {
  auto const orders = orders_of_maps(100'000);
  fill_with_shares<probed_map>("hash_map", orders, {0.5, 0.8, 0.9, 0.95, 0.98});
  fill_with_shares<hopping_map>("hopscotch_map", orders, {0.5, 0.8, 0.9});
}

TEST_CASE("hash_map and hopscotch_map, from full ones of their size") {
  fill_with_parts<probed_map>("hash_map");
  fill_with_parts<hopping_map>("hopscotch_map");
}
TEST_CASE("keys that crowd the first half of a map find places in the second") {
  fill_with_halves_of_one_seed();
}

TEST_CASE("maps share their places if they share a seed") {
  seeds_and_copies<probed_map>();
  seeds_and_copies<hopping_map>();
}

TEST_CASE("hash_map and hopscotch_map that grow as keys come in an order") {
  auto const orders = orders_of_maps(60'000);
  grow_by_orders<probed_map>("hash_map", orders);
  grow_by_orders<hopping_map>("hopscotch_map", orders);
}

TEST_CASE("a map for each partition") {
  u64 const n = 240'000, partitions = 48;
  auto const keys = karpos_test::unique_keys<u32>(n);
  view<u32> const out("keys", n);
  view<u64> const offsets("offsets", partitions + 1);
  karpos::partition(space{}, to_space(keys), out, offsets);
  auto const begins = karpos_test::to_host(offsets);
  u64 inserted = 0, capacity = 0;
  for (u64 p = 0; p < partitions; ++p) {
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
