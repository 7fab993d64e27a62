// SPDX-License-Identifier: Apache-2.0
/// \file
/// Does for the other structures what nested_maps.cpp does for its maps: cuckoo_map, hash_multimap,
/// hash_set, unordered_map, reduce_by_key, joins.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <karpos/cuckoo_map.hpp>
#include <karpos/cuckoo_set.hpp>
#include <karpos/hash_multimap.hpp>
#include <karpos/hash_multiset.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/hopscotch_set.hpp>
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
/// Inserts keys in a kernel. Counts those that were rejected.
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
/// Copies the keys of the slots, in slot order.
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

/// Returns orders of all structures except those of nested_maps.cpp; the first order is a random
/// one.
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

/// Uses of the keys of an order; each fails if a key is lost.
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
          for (int i = 0; i < 20 && took > 2 * usual; ++i) took = std::min(took, run(keys));
          CHECK(took < 3 * usual + 0.05);  // crowding takes tens of times as long
        }
    }
}

/// A table that is filled in steps.
struct table {
  std::string name;
  /// Returns the keys of a full table in its order.
  std::vector<u32> (*order)(std::vector<u32> const&, double load);
  /// Inserts keys into a table made for them; none may be rejected. Returns: the work done, such as
  /// probes.
  u64 (*work)(std::vector<u32> const&, double load);
};

template <class Set>
struct filled_set : Set {
  filled_set(std::vector<u32> const& keys, double load)
      : Set(space{}, keys.size(), {.load = load, .growth = karpos::growth::fixed}) {
    same("inserted", this->insert(space{}, to_space(keys)).inserted, keys.size());
  }
  static std::vector<u32> order(std::vector<u32> const& keys, double load) {
    view<u32> const out("keys", keys.size());
    filled_set const set(keys, load);
    same("retrieved", set.retrieve_all(space{}, out), keys.size());
    return to_host(out);
  }
};
/// Counts the buckets that lookups probe until they find their keys.
template <class Set>
struct probed_set : filled_set<Set> {
  using filled_set<Set>::filled_set;
  static u64 work(std::vector<u32> const& keys, double load) {
    probed_set const set(keys, load);
    auto const table = set.m_storage.ref();
    auto const in = to_space(keys);
    u64 sum = 0;
    Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, keys.size()),
                            count_buckets<std::decay_t<decltype(table)>>{table, in}, sum);
    return sum;
  }
};
/// Counts keys, for a set that offers no other measure.
template <class Set>
u64 keys_in(std::vector<u32> const& keys, double load) {
  return filled_set<Set>(keys, load).size();
}
template <karpos::cuckoo_layout Layout>
struct cuckoo {
  using set_type = karpos::cuckoo_set<u32, space>;
  static std::vector<u32> order(std::vector<u32> const& keys, double load) {
    set_type const set(space{}, to_space(keys), {.layout = Layout, .load = load});
    view<u32> const out("keys", keys.size());
    same("retrieved", set.retrieve_all(space{}, out), keys.size());
    return to_host(out);
  }
  /// Counts how often the table is built, and the slots that it gains.
  static u64 work(std::vector<u32> const& keys, double load) {
    auto const in = to_space(keys);
    set_type built(space{}, in, {.layout = Layout, .load = load});
    u64 const restarts = built.stats(space{}).restarts;
    if (Layout == karpos::cuckoo_layout::two_level) return 1 + restarts;
    auto const part = [&](u64 i) {
      return Kokkos::subview(in, std::pair(keys.size() * i / 8, keys.size() * (i + 1) / 8));
    };
    set_type set(space{}, part(0), {.layout = Layout, .load = load, .capacity = keys.size()});
    u64 const bytes = set.bytes();
    for (u64 i = 1; i < 8; ++i) set.insert(space{}, part(i));
    same("keys", set.size(), keys.size());
    return 1 + restarts + set.stats(space{}).restarts + (set.bytes() > bytes);
  }
};
struct unordered {
  static std::vector<u32> order(std::vector<u32> const& keys, double load) {
    reference_map const map(hint(keys, load));
    same("failed", failures(map, keys), 0);
    view<u32> const out("keys", keys.size());
    u64 written = 0;
    Kokkos::parallel_scan(Kokkos::RangePolicy<space>(0, map.capacity()), copy_keys{map, out},
                          written);
    same("retrieved", written, keys.size());
    return to_host(out);
  }
  /// Inserts each key twice, and counts the buckets that the second insertion probes.
  static u64 work(std::vector<u32> const& keys, double load) {
    reference_map const map(hint(keys, load));
    same("failed", failures(map, keys), 0);
    u64 sum = 0;
    Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, keys.size()),
                            insert_again{map, to_space(keys)}, sum);
    return sum;
  }
  /// Public, for kernels of CUDA name it outside of this class.
  struct insert_again {
    reference_map map;
    view<u32> keys;
    KOKKOS_FUNCTION void operator()(u64 i, u64& sum) const {
      sum += 1 + map.insert(keys(i), u32(1)).list_position();
    }
  };

 private:
  /// Returns a hint for a map: its slots are twice the hint.
  static u64 hint(std::vector<u32> const& keys, double load) {
    return static_cast<u64>(static_cast<double>(keys.size()) / (2 * load));
  }
};

using linear_set =
    karpos::hash_set<u32, space, karpos::hash<u32>, karpos::equal_to<u32>, karpos::linear_probing>;
using hop_set = karpos::hopscotch_set<u32, space>;
using multiset = karpos::hash_multiset<u32, space>;
template <class Set>
u64 keys_of_table(std::vector<u32> const& keys, double load) {
  return filled_set<Set>(keys, load).size(space{});
}
table const tables[] = {
    {"hash_set", probed_set<karpos::hash_set<u32, space>>::order,
     probed_set<karpos::hash_set<u32, space>>::work},
    {"hash_set by linear probing", probed_set<linear_set>::order, probed_set<linear_set>::work},
    {"hopscotch_set", filled_set<hop_set>::order, keys_of_table<hop_set>},
    {"hash_multiset", filled_set<multiset>::order, keys_in<multiset>},
    {"cuckoo_set", cuckoo<karpos::cuckoo_layout::two_level>::order,
     cuckoo<karpos::cuckoo_layout::two_level>::work},
    {"dense cuckoo_set", cuckoo<karpos::cuckoo_layout::dense>::order,
     cuckoo<karpos::cuckoo_layout::dense>::work},
    {"unordered_map", unordered::order, unordered::work},
};

TEST_CASE("the first k-th parts, in table order, of k full tables of one size into another one") {
  constexpr u64 n = 1 << 15;
  auto const keys = karpos_test::unique_keys<u32>(8 * n);
  for (table const& t : tables)
    for (double const load : {0.5, 0.7, 0.8, 0.9}) {
      u64 const usual = t.work(share_of(keys, 0, 0.125), load);
      for (u64 const k : {2, 8}) {
        INFO(t.name, " at load ", load, ", from ", k, " tables");
        std::vector<u32> parts;
        for (u64 m = 0; m < k; ++m) {
          auto const order = t.order(share_of(keys, double(m) / 8, double(m + 1) / 8), load);
          auto const part = share_of(order, 0, 1 / double(k));
          parts.insert(parts.end(), part.begin(), part.end());
        }
        CHECK(t.work(parts, load) <= usual + usual / 2);
      }
    }
}

}  // namespace
