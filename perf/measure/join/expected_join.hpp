// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "karpos/join.hpp"
#include "perf/measure/subjects/sort_join.hpp"
#include "perf/measure/support/parallel_sort.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// The correct join, computed by sorting both tables on the host and merging them. Its rows are
/// ordered by left row, then by right row, and end with right rows that stand alone: the order of
/// karpos::join.
template <class Key>
class expected_join {
 public:
  using row_numbers = Kokkos::View<std::uint32_t*, Kokkos::HostSpace>;

  expected_join(array<Key> const& left, array<Key> const& right, join_kind kind)
      : m_kind(kind),
        m_right(sorted(right)),
        m_runs(left.extent(0)) {
    std::vector<bool> const matched = merge(sorted(left));
    m_begins.push_back(0);
    for (run const& r : m_runs) m_begins.push_back(m_begins.back() + rows_of_left(kind, r.size));
    for (std::uint64_t j = 0; j < matched.size(); ++j)
      if (includes_right_row(kind, matched[j])) m_alone.push_back(static_cast<std::uint32_t>(j));
  }

  std::uint64_t size() const { return m_begins.back() + m_alone.size(); }

  /// Returns the number of wrong rows in a join of n rows, or, if n is wrong, its error. A semi or
  /// anti join has rows of its own side only; the other side is ignored.
  std::uint64_t wrong(std::uint64_t n, row_numbers const& left, row_numbers const& right) const {
    if (n != size()) return n > size() ? n - size() : size() - n;
    std::uint64_t wrong = 0;
    Kokkos::DefaultHostExecutionSpace const host;
    Kokkos::parallel_reduce(
        "karpos::perf::check_join",
        Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::uint64_t>>(
            host, 0, m_runs.size()),
        check{m_kind, m_right.data(), m_runs.data(), m_begins.data(), left.data(), right.data()},
        wrong);
    for (std::uint64_t j = 0; j < m_alone.size(); ++j) {
      std::uint64_t const p = m_begins.back() + j;
      wrong += right(p) != m_alone[j] || (has_pairs(m_kind) && left(p) != no_row<std::uint32_t>);
    }
    return wrong;
  }

 private:
  struct row {
    Key key;
    std::uint32_t number;
    friend bool operator<(row const& a, row const& b) {
      return a.key != b.key ? a.key < b.key : a.number < b.number;
    }
  };
  /// The matches of a left row: a range of the sorted right rows.
  struct run {
    std::uint32_t begin = 0, size = 0;
  };
  struct check {
    join_kind kind;
    row const* right_rows;
    run const* runs;
    std::uint64_t const* begins;
    std::uint32_t const *left, *right;

    void operator()(std::uint64_t i, std::uint64_t& wrong) const {
      for (std::uint64_t p = begins[i]; p < begins[i + 1]; ++p) {
        std::uint32_t const match = runs[i].size == 0
                                        ? no_row<std::uint32_t>
                                        : right_rows[runs[i].begin + (p - begins[i])].number;
        wrong += left[p] != i || (has_pairs(kind) && right[p] != match);
      }
    }
  };

  static std::vector<row> sorted(array<Key> const& keys) {
    auto const k = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), keys);
    std::vector<row> rows(k.extent(0)), other(rows.size());
    for (std::uint64_t i = 0; i < rows.size(); ++i) rows[i] = {k(i), static_cast<std::uint32_t>(i)};
    Kokkos::DefaultHostExecutionSpace const host;
    bool const in_place =
        parallel_sort(host, rows.data(), other.data(), rows.size()) == rows.data();
    host.fence("karpos::perf: rows are sorted");
    return in_place ? rows : other;
  }
  /// Finds the matches of every left row. Returns which right rows have a match.
  std::vector<bool> merge(std::vector<row> const& left) {
    std::vector<bool> matched(m_right.size());
    run r;
    for (std::uint64_t i = 0; i < left.size(); ++i) {
      if (i == 0 || left[i].key != left[i - 1].key) {
        std::uint64_t j = r.begin + r.size;
        while (j < m_right.size() && m_right[j].key < left[i].key) ++j;
        r = {static_cast<std::uint32_t>(j), 0};
        for (; j < m_right.size() && m_right[j].key == left[i].key; ++j, ++r.size)
          matched[m_right[j].number] = true;
      }
      m_runs[left[i].number] = r;
    }
    return matched;
  }

  join_kind m_kind;
  std::vector<row> m_right;
  std::vector<run> m_runs;              // of the left rows
  std::vector<std::uint64_t> m_begins;  // position of each left row's first row in the join
  std::vector<std::uint32_t> m_alone;   // right rows that stand alone
};

/// Sorts the rows of a join into the order of expected_join.
inline void order_rows(join_kind kind, expected_join<std::uint32_t>::row_numbers const& left,
                       expected_join<std::uint32_t>::row_numbers const& right, std::uint64_t n) {
  using pair = std::pair<std::uint32_t, std::uint32_t>;
  bool const both = has_pairs(kind);
  bool const of_left = kind <= join_kind::left_anti;
  std::vector<pair> rows(n), other(n);
  for (std::uint64_t i = 0; i < n; ++i)
    rows[i] = {both || of_left ? left(i) : 0, both || !of_left ? right(i) : 0};
  Kokkos::DefaultHostExecutionSpace const host;
  pair const* const sorted = parallel_sort(host, rows.data(), other.data(), n);
  host.fence("karpos::perf: rows of a join are sorted");
  for (std::uint64_t i = 0; i < n; ++i) {
    if (both || of_left) left(i) = sorted[i].first;
    if (both || !of_left) right(i) = sorted[i].second;
  }
}

}  // namespace karpos::perf
