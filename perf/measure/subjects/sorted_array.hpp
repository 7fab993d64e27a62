// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/subjects/subject.hpp"

// The baseline of Alcantara et al. for hash tables: sort the pairs by key, then search by
// bisection. The including file must include the pair_sorter of the measured space first.

namespace karpos::perf {

/// Finds a query's value by binary search, which selects each half without a branch: the branch
/// would be unpredictable.
template <class Key>
struct search_by_bisection {
  array<Key> keys, values;
  std::uint64_t size;
  array<Key> queries, answers;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Key const wanted = queries(i);
    Key const* first = keys.data();
    for (std::uint64_t n = size; n > 1;) {
      std::uint64_t const half = n / 2;
      first = first[half - 1] < wanted ? first + half : first;
      n -= half;
    }
    bool const found = size > 0 && *first == wanted;
    answers(i) = found ? values(first - keys.data()) : static_cast<Key>(~Key(0));
  }
};

/// Sorted keys in one array, their values in another. insert() replaces all pairs.
template <class Key>
class sorted_array : public subject<Key> {
 public:
  sorted_array(space const& exec, std::uint64_t max_keys, double)
      : m_sort(exec, max_keys),
        m_keys(make_array<Key>("sorted keys", max_keys)),
        m_values(make_array<Key>("sorted values", max_keys)) {}

  std::size_t bytes() const override { return 2 * sizeof(Key) * m_keys.extent(0); }
  bool erases() const override { return false; }
  void clear(space const&) override { m_size = 0; }
  void insert(space const& exec, array<Key> const& keys, array<Key> const& values) override {
    m_size = keys.extent(0);
    m_sort(exec, keys, values, m_keys, m_values);
  }
  void find(space const& exec, array<Key> const& queries, array<Key> const& answers) override {
    Kokkos::parallel_for("sorted::find", range(exec, queries.extent(0)),
                         search_by_bisection<Key>{m_keys, m_values, m_size, queries, answers});
  }
  std::uint64_t size(space const&) override { return m_size; }

 private:
  pair_sorter<Key, Key> m_sort;
  array<Key> m_keys, m_values;
  std::uint64_t m_size = 0;
};

}  // namespace karpos::perf
