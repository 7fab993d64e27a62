// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/subjects/sort_groups.hpp"
#include "perf/measure/support/parallel_sort.hpp"

namespace karpos::perf {
namespace {

template <class Key>
struct keyed_value {
  Key key, value;
  friend bool operator<(keyed_value const& a, keyed_value const& b) { return a.key < b.key; }
};

template <class Key>
Key key_of(Key key) {
  return key;
}
template <class Key>
Key key_of(keyed_value<Key> const& row) {
  return row.key;
}
template <class Key>
Key value_of(Key) {
  return 1;
}
template <class Key>
Key value_of(keyed_value<Key> const& row) {
  return row.value;
}

/// State of the scan over sorted rows: the number of runs that have begun, and the sum of the
/// values so far.
template <class Key>
struct runs_so_far {
  std::uint64_t runs = 0;
  Key sum = 0;
  runs_so_far& operator+=(runs_so_far const& more) {
    runs += more.runs;
    sum += more.sum;
    return *this;
  }
};

/// Writes the key of each run, and the sum of all values before the run.
template <class Key, class Row>
struct mark_runs {
  Row const* rows;
  array<Key> out_keys, before;

  void operator()(std::uint64_t i, runs_so_far<Key>& at, bool final) const {
    bool const begins = i == 0 || key_of(rows[i]) != key_of(rows[i - 1]);
    if (final && begins) {
      out_keys(at.runs) = key_of(rows[i]);
      before(at.runs) = at.sum;
    }
    at += {begins, value_of(rows[i])};
  }
};

template <class Key>
class host_sort_groups : public sort_groups<Key> {
 public:
  host_sort_groups(space const& exec, std::uint64_t rows)
      : m_exec(exec),
        m_rows(make_array<keyed_value<Key>>("rows to sort", rows)),
        m_sorted(make_array<keyed_value<Key>>("sorted rows", rows)),
        m_before(make_array<Key>("sums before", rows)) {}

  std::uint64_t count(array<Key> const& keys, array<Key> const& out_keys,
                      array<Key> const& out_counts) override {
    auto* const rows = reinterpret_cast<Key*>(m_rows.data());
    Kokkos::parallel_for("sort_groups: copy", range(m_exec, keys.extent(0)),
                         [=](std::uint64_t i) { rows[i] = keys(i); });
    return reduce_runs(rows, reinterpret_cast<Key*>(m_sorted.data()), keys.extent(0), out_keys,
                       out_counts);
  }
  std::uint64_t sum(array<Key> const& keys, array<Key> const& values, array<Key> const& out_keys,
                    array<Key> const& out_sums) override {
    auto* const rows = m_rows.data();
    Kokkos::parallel_for("sort_groups: copy", range(m_exec, keys.extent(0)), [=](std::uint64_t i) {
      rows[i] = {keys(i), values(i)};
    });
    return reduce_runs(rows, m_sorted.data(), keys.extent(0), out_keys, out_sums);
  }

 private:
  /// Reduces each run: takes a prefix sum over all rows, and subtracts its values at the beginnings
  /// of neighbouring runs. Returns the number of runs.
  template <class Row>
  std::uint64_t reduce_runs(Row* rows, Row* other, std::uint64_t n, array<Key> const& out_keys,
                            array<Key> const& out_values) const {
    runs_so_far<Key> all;
    Kokkos::parallel_scan(
        "sort_groups: runs", range(m_exec, n),
        mark_runs<Key, Row>{parallel_sort(m_exec, rows, other, n), out_keys, m_before}, all);
    Kokkos::parallel_for("sort_groups: sums", range(m_exec, all.runs),
                         [=, before = m_before](std::uint64_t g) {
                           out_values(g) = (g + 1 < all.runs ? before(g + 1) : all.sum) - before(g);
                         });
    return all.runs;
  }

  space m_exec;
  array<keyed_value<Key>> m_rows, m_sorted;
  array<Key> m_before;
};

register_sort_groups<host_sort_groups> const registration;

}  // namespace
}  // namespace karpos::perf
