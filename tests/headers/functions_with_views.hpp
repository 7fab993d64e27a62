// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Calls bulk operations with functions that hold views, whose copies are not trivial, and with
/// atomic views, whose elements are proxies. This file is compiled, not run.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <karpos/bfs.hpp>
#include <karpos/build_sorted_lists.hpp>
#include <karpos/cuckoo_map.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hash_multimap.hpp>
#include <karpos/hash_multiset.hpp>
#include <karpos/hash_set.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/hopscotch_set.hpp>
#include <karpos/join.hpp>
#include <karpos/partition.hpp>
#include <karpos/partitioned_join.hpp>
#include <karpos/reduce_by_key.hpp>
#include <karpos/row_index.hpp>
#include <karpos/top_k.hpp>
#include <karpos/unordered_map.hpp>

namespace karpos_test {

using space = Kokkos::DefaultExecutionSpace;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
template <class T>
using view = Kokkos::View<T*, space>;

struct label_hash {
  view<u32> labels;
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return labels(key); }
  KOKKOS_FUNCTION u64 operator()(u32 a, u64 b) const { return labels(a) + b; }
};
struct seeded_label_hash {
  view<u32> labels;
  KOKKOS_FUNCTION u64 operator()(u32 key, u64 seed) const { return labels(key) + seed; }
};
struct label_equal {
  view<u32> labels;
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return labels(a) == labels(b); }
  KOKKOS_FUNCTION bool operator()(u32 a, u64 b, u32 c, u64 d) const {
    return labels(a) == labels(c) && b == d;
  }
};
struct sum_by_labels {
  view<u32> labels;
  KOKKOS_FUNCTION u32 operator()(u32 a, u32 b) const { return labels(a) + labels(b); }
};
struct has_label {
  view<u32> labels;
  KOKKOS_FUNCTION bool operator()(u32 key) const { return labels(key) != 0; }
  KOKKOS_FUNCTION bool operator()(u32 key, u32 /*value*/) const { return labels(key) != 0; }
};
struct partition_of_label {
  view<u32> labels;
  KOKKOS_FUNCTION u32 operator()(u32 key) const { return labels(key); }
};
struct accept_labels {
  view<u32> labels;
  KOKKOS_FUNCTION bool operator()(u64 left, u64 right) const {
    return labels(left) < labels(right);
  }
};
struct add_to_view {
  view<u64> sum;
  template <class... T>
  KOKKOS_FUNCTION void operator()(T const&... of) const {
    Kokkos::atomic_add(&sum(0), (u64(of) + ...));
  }
};
struct weighted_score {
  view<double> weights;
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += weights(i) * scores[i];
    return sum;
  }
};
struct follow_labels {
  view<u32> labels;
  KOKKOS_FUNCTION bool operator()(u32 from, u32 to) const { return labels(from) == labels(to); }
};
struct write_levels {
  view<int> levels;
  KOKKOS_FUNCTION void operator()(u32 vertex, int level) const { levels(vertex) = level; }
};

template <class Map>
void call_map(space const& exec, view<u32> const& keys, view<u32> const& out) {
  Map map(exec, 10, {}, label_hash{keys}, label_equal{keys});
  map.insert(exec, keys, keys);
  map.insert_or_throw(exec, keys, keys);
  map.insert_or_apply(exec, keys, keys, sum_by_labels{keys});
  map.insert_or_apply(exec, keys, keys, sum_by_labels{keys},
                      {.strategy = karpos::bulk_strategy::reduced});
  map.find_or_insert(exec, keys, keys, out);
  map.find(exec, keys, out, 0u);
  map.find_if(exec, keys, out, 0u, keys, has_label{keys});
  map.count(exec, keys);
  map.for_each(exec, add_to_view{});
  map.apply(exec, view<karpos::map_operation<u32, u32>>("operations", 1),
            view<karpos::map_result<u32>>("results", 1));
  map.erase_if(exec, has_label{keys});
  map.erase(exec, keys);
  map.rehash(exec, 20);
  map.retrieve_all(exec, keys, out);
  Map copy;
  deep_copy(exec, copy, map);
}
template <class Set>
void call_set(space const& exec, view<u32> const& keys) {
  Set set(exec, 10, {}, label_hash{keys}, label_equal{keys});
  set.insert(exec, keys);
  set.insert_if(exec, keys, keys, has_label{keys});
  set.contains(exec, keys, view<bool>("out", 1));
  set.for_each(exec, add_to_view{});
  set.erase_if(exec, has_label{keys});
  set.rehash(exec, 20);
}
template <class Value>
void call_unordered_map(view<u32> const& keys) {
  using map = karpos::unordered_map<u32, Value, space, label_hash, label_equal>;
  map m(10, label_hash{keys}, label_equal{keys});
  m.rehash(20);
  m.begin_erase();
  m.end_erase();
  m.size();
  map copy;
  copy.create_copy_view(m);
  deep_copy(copy, m);
  m.clear();
}

inline void call_maps(space const& exec, view<u32> const& keys, view<u32> const& out) {
  call_map<karpos::hash_map<u32, u32, space, label_hash, label_equal>>(exec, keys, out);
  call_map<karpos::hopscotch_map<u32, u32, space, label_hash, label_equal>>(exec, keys, out);
  call_set<karpos::hash_set<u32, space, label_hash, label_equal>>(exec, keys);
  call_set<karpos::hopscotch_set<u32, space, label_hash, label_equal>>(exec, keys);
  call_unordered_map<float>(keys);
  call_unordered_map<double>(keys);
  call_unordered_map<void>(keys);

  karpos::cuckoo_map<u32, u32, space, label_hash> dense(exec, keys, keys,
                                                        {.layout = karpos::cuckoo_layout::dense});
  dense.insert(exec, keys, keys);
  dense.find(exec, keys, out, 0u);
  dense.for_each(exec, add_to_view{});
  karpos::cuckoo_map<u32, u32, space, seeded_label_hash> two_levels(exec, keys, keys);
  two_levels.build(exec, keys, keys);

  karpos::hash_multimap<u32, u32, space, label_hash, label_equal> multimap(
      exec, 10, {}, label_hash{keys}, label_equal{keys});
  multimap.insert(exec, keys, keys);
  multimap.insert_async(exec, keys, keys);
  multimap.consolidate(exec);
  multimap.count(exec, keys, out);
  multimap.find_any(exec, keys, out, 0u);
  multimap.retrieve(exec, keys, out, out);
  multimap.retrieve_all(exec, keys, out);
  multimap.for_each(exec, add_to_view{});
  multimap.erase(exec, keys);
  multimap.rehash(exec, 10, 10);
  karpos::hash_multiset<u32, space, label_hash, label_equal> multiset(
      exec, 10, {}, label_hash{keys}, label_equal{keys});
  multiset.insert(exec, keys);
}

inline void call_rows(space const& exec, view<u32> const& keys, view<u64> const& other,
                      view<u32> const& out) {
  auto const rows = karpos::rows(keys, other).with_functions(label_hash{keys}, label_equal{keys});
  karpos::row_index index(exec, rows, {.duplicates = karpos::duplicates::dropped});
  index.insert(exec, 0);
  index.find(exec, rows, out);
  index.count(exec, rows, out);
  index.label(exec, out);
  index.distinct(exec, out);
  karpos::join pairs(exec, rows, index, karpos::join_kind::full, accept_labels{keys});
  pairs.pairs(exec);
  pairs.for_each_pair(exec, add_to_view{});
  karpos::partitioned_join(exec, rows, rows, karpos::join_kind::inner, out, out);
  Kokkos::View<u32*, space, Kokkos::MemoryTraits<Kokkos::Atomic>> const atomic = keys;
  karpos::gather(exec, atomic, atomic, 0u, atomic);
  index.find(exec, rows, atomic);
  karpos::partition(exec, keys, out, other, partition_of_label{keys});
  karpos::reduce_by_key(exec, keys, keys, out, out, sum_by_labels{keys});
}

/// Calls bulk operations with atomic views, whose elements are proxies.
inline void call_with_proxies(space const& exec, view<u32> const& plain, view<u64> const& other) {
  Kokkos::View<u32*, space, Kokkos::MemoryTraits<Kokkos::Atomic>> const keys = plain;
  karpos::hash_map<u32, u32, space> map(exec, 10);
  map.insert(exec, keys, keys);
  map.insert_async(exec, keys, keys, Kokkos::View<karpos::insert_report, space>("report"));
  map.insert_or_apply(exec, keys, keys, karpos::plus{},
                      {.strategy = karpos::bulk_strategy::reduced});
  map.insert(exec, keys, keys, {.strategy = karpos::bulk_strategy::partitioned});
  map.find(exec, keys, keys, 0u);
  map.count(exec, keys);
  map.erase(exec, keys);
  karpos::hopscotch_set<u32, space> set(exec, 10);
  set.insert(exec, keys);
  set.contains(exec, keys, keys);
  karpos::cuckoo_map<u32, u32, space> dense(exec, keys, keys,
                                            {.layout = karpos::cuckoo_layout::dense});
  dense.insert(exec, keys, keys);
  dense.find(exec, keys, keys, 0u);
  karpos::cuckoo_map<u32, u32, space> const two_levels(exec, keys, keys);
  karpos::hash_multimap<u32, u32, space> multimap(exec, 10);
  multimap.insert(exec, keys, keys);
  multimap.insert_async(exec, keys, keys);
  multimap.count(exec, keys, keys);
  multimap.erase(exec, keys);
  karpos::row_index index(exec, karpos::rows(keys, other));
  index.find(exec, index.rows(), keys);
  karpos::partitioned_join(exec, karpos::rows(keys), karpos::rows(keys), karpos::join_kind::inner,
                           plain, plain);
  karpos::partition(exec, keys, plain, other);
  karpos::reduce_by_key(exec, keys, keys, plain, plain);
  karpos::count_by_key(exec, keys, plain, plain);
}

inline void call_searches(space const& exec, view<u32> const& targets,
                          Kokkos::View<float**, space> const& scores, view<u32> const& out) {
  view<u64> const offsets("offsets", 1);
  karpos::bfs(exec, karpos::csr_graph(offsets, targets), 0, view<int>("distances", 1), view<u32>(),
              {}, karpos::bfs_hooks<follow_labels, write_levels>{});
  karpos::top_k_options<weighted_score> const options;
  karpos::top_k(exec, karpos::build_sorted_lists(exec, scores), 3, out, view<double>("scores", 3),
                options);
}

}  // namespace karpos_test
