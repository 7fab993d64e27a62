// SPDX-License-Identifier: Apache-2.0
/// \file
/// As nested_maps.cpp, for the other structures: cuckoo_map, hash_multimap, hash_set, unordered_map, reduce_by_key, joins.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <karpos/cuckoo_map.hpp>
#include <karpos/hash_multimap.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/partitioned_join.hpp>
#include <karpos/reduce_by_key.hpp>
#include <karpos/row_index.hpp>
#include <karpos/unordered_map.hpp>
#include <string>
#include <utility>
#include <vector>

#include "nested_orders.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;
using namespace karpos_test::nested;

using reference_map = karpos::unordered_map<u32, u32, space>;
/// Inserts keys in a kernel. Counts those that found no place.
struct insert_in_kernel {
  reference_map map;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i, u64& failed) const {
    failed += map.insert(keys(i), u32(1)).failed();
  }
};
u64 failures(reference_map const& map, std::vector<u32> const& keys) {
  u64 failed = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, keys.size()),
                          insert_in_kernel{map, to_space(keys)}, failed);
  return failed;
}
/// Copies the keys of the slots, in their order.
struct copy_keys {
  reference_map map;
  view<u32> out;
  KOKKOS_FUNCTION void operator()(u64 i, u64& at, bool last) const {
    auto const index = static_cast<typename reference_map::size_type>(i);
    if (!map.valid_at(index)) return;
    if (last) out(at) = map.key_at(index);
    ++at;
  }
};

/// Orders of all structures but those of nested_maps.cpp; the first one is none.
std::vector<order> orders_of_structures(u64 n) {
  auto const keys = karpos_test::unique_keys<u32>(n);
  auto const in = to_space(keys);
  std::vector<order> all{{"shuffled", keys}};
  view<u32> const out("keys", n), values("values", n);
  auto const add = [&](std::string const& name, u64 written) {
    same(name, written, n);
    all.push_back({name, to_host(out)});
  };
  for (auto const layout : {karpos::cuckoo_layout::two_level, karpos::cuckoo_layout::dense}) {
    karpos::cuckoo_map<u32, u32, space> const map(space{}, in, in, {.layout = layout});
    add("cuckoo_map", map.retrieve_all(space{}, out, values));
  }
  karpos::hash_multimap<u32, u32, space> multimap(space{}, n);
  multimap.insert(space{}, in, in);
  add("hash_multimap", multimap.retrieve_all(space{}, out, values));
  karpos::hash_set<u32, space> set(space{}, n);
  set.insert(space{}, in);
  add("hash_set", set.retrieve_all(space{}, out));
  reference_map const map(static_cast<typename reference_map::size_type>(n));
  same("unordered_map", failures(map, keys), 0);
  u64 written = 0;
  Kokkos::parallel_scan(Kokkos::RangePolicy<space>(0, map.capacity()), copy_keys{map, out},
                        written);
  add("unordered_map", written);
  add("distinct", karpos::distinct(space{}, in, out));
  view<u32> const left("left", n), right("right", n);
  auto const rows = karpos::rows(in);
  u64 const joined =
      karpos::partitioned_join(space{}, rows, rows, karpos::join_kind::inner, left, right);
  karpos::gather(space{}, left, in, u32(0), out);
  add("partitioned_join", joined);
  return all;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What is done with the keys of an order; each fails if a key is lost.
struct use {
  std::string name;
  void (*of)(std::vector<u32> const&);
};
use const uses[] = {
    {"cuckoo_map of two levels",
     [](std::vector<u32> const& keys) {
       karpos::cuckoo_map<u32, u32, space> const map(space{}, to_space(keys), to_space(keys));
       CHECK(map.stats(space{}).restarts <= 1);
     }},
    {"dense cuckoo_map",
     [](std::vector<u32> const& keys) {
       karpos::cuckoo_map<u32, u32, space> const map(
           space{}, to_space(keys), to_space(keys),
           {.layout = karpos::cuckoo_layout::dense, .load = 0.95});
       CHECK(map.stats(space{}).restarts <= 1);
     }},
    {"dense cuckoo_map that grows",
     [](std::vector<u32> const& keys) {
       auto const in = to_space(keys);
       auto const none = Kokkos::subview(in, std::pair<u64, u64>(0, 0));
       karpos::cuckoo_map<u32, u32, space> map(space{}, none, none,
                                               {.layout = karpos::cuckoo_layout::dense});
       u64 const each = keys.size() / 8 + 1;
       for (u64 i = 0; i < keys.size(); i += each) {
         auto const some =
             Kokkos::subview(in, std::pair<u64, u64>(i, std::min(i + each, u64(keys.size()))));
         map.insert(space{}, some, some);
       }
       same("keys", map.size(), keys.size());
     }},
    {"hash_multimap",
     [](std::vector<u32> const& keys) {
       karpos::hash_multimap<u32, u32, space> map(space{}, keys.size());
       same("rejected", map.insert(space{}, to_space(keys), to_space(keys)).rejected, 0);
     }},
    {"hash_multimap that grows",
     [](std::vector<u32> const& keys) {
       karpos::hash_multimap<u32, u32, space> map(space{}, 0,
                                                  {.growth = karpos::growth::automatic});
       auto const in = to_space(keys);
       u64 rejected = 0;
       for (u64 i = 0; i < keys.size(); i += 4'000) {
         auto const some =
             Kokkos::subview(in, std::pair<u64, u64>(i, std::min(i + 4'000, u64(keys.size()))));
         rejected += map.insert(space{}, some, some).rejected;
       }
       same("rejected", rejected, 0);
     }},
    {"hash_set",
     [](std::vector<u32> const& keys) {
       karpos::hash_set<u32, space> set(space{}, keys.size(), {.load = 0.95});
       same("inserted", set.insert(space{}, to_space(keys)).inserted, keys.size());
     }},
    {"unordered_map",
     [](std::vector<u32> const& keys) {
       reference_map const map(static_cast<typename reference_map::size_type>(keys.size()));
       same("failed", failures(map, keys), 0);
     }},
    {"distinct",
     [](std::vector<u32> const& keys) {
       view<u32> const out("out", keys.size());
       same("groups", karpos::distinct(space{}, to_space(keys), out), keys.size());
     }},
    {"row_index",
     [](std::vector<u32> const& keys) {
       auto const in = to_space(keys);
       karpos::row_index const index(space{}, karpos::rows(in));
       same("groups", index.groups(), keys.size());
     }},
    {"partitioned_join",
     [](std::vector<u32> const& keys) {
       auto const in = to_space(keys);
       view<u32> const left("left", keys.size()), right("right", keys.size());
       same("rows",
            karpos::partitioned_join(space{}, karpos::rows(in), karpos::rows(in),
                                     karpos::join_kind::inner, left, right),
            keys.size());
     }},
};

TEST_CASE("every other structure takes shares of every order, as fast as shuffled keys") {
  auto const orders = orders_of_structures(160'000);
  for (use const& u : uses)
    for (auto const& [first, last] : {std::pair(0.0, 0.5), std::pair(0.5, 0.625)}) {
      auto const run = [&](std::vector<u32> const& keys) {
        double const start = seconds();
        u.of(keys);
        return seconds() - start;
      };
      double usual = 1e9;
      for (int i = 0; i < 3; ++i)
        usual = std::min(usual, run(share_of(orders.front().keys, first, last)));
      for (order const& o : orders)
        for (auto const& [way, keys] : ways_through(share_of(o.keys, first, last))) {
          INFO(o.name, ", ", way, ", from ", first, " to ", last, " -> ", u.name);
          double took = 1e9;
          for (int i = 0; i < 5 && took > 1.5 * usual; ++i) took = std::min(took, run(keys));
          CHECK(took < 3 * usual + 0.05);  // crowds take tens of times as long
        }
    }
}

}  // namespace
