// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "perf/measure/support/parallel_sort.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

template <class Key, class Value>
struct sorted_pair {
  Key key;
  Value value;
  friend bool operator<(sorted_pair const& a, sorted_pair const& b) { return a.key < b.key; }
};

/// Sorts pairs of keys and values by key: std::sort of one range per thread, then parallel merges.
/// Allocates its memory once.
template <class Key, class Value>
class pair_sorter {
 public:
  pair_sorter(space const&, std::uint64_t most)
      : m_pairs(make_array<sorted_pair<Key, Value>>("pairs", most)),
        m_merged(make_array<sorted_pair<Key, Value>>("merged pairs", most)) {}

  void operator()(space const& exec, array<Key> const& keys, array<Value> const& values,
                  array<Key> const& sorted_keys, array<Value> const& sorted_values) const {
    std::uint64_t const n = keys.extent(0);
    Kokkos::parallel_for("pair_sorter: join", range(exec, n), [=, into = m_pairs](std::uint64_t i) {
      into(i) = {keys(i), values(i)};
    });
    Kokkos::parallel_for(
        "pair_sorter: split", range(exec, n),
        [=, from = parallel_sort(exec, m_pairs.data(), m_merged.data(), n)](std::uint64_t i) {
          sorted_keys(i) = from[i].key;
          sorted_values(i) = from[i].value;
        });
  }

 private:
  array<sorted_pair<Key, Value>> m_pairs, m_merged;
};

}  // namespace karpos::perf
