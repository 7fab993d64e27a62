// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/subjects/sort_join.hpp"

// The steps of sort_join, all but the sort. The including file must include the pair_sorter of the
// measured space first.

namespace karpos::perf {

/// Returns how many of n sorted values are < x, or <= x if UpTo. The binary search selects each
/// half without a branch.
template <bool UpTo, class T>
KOKKOS_FUNCTION std::uint64_t count_below(T const* values, std::uint64_t n, T x) {
  T const* first = values;
  while (n > 0) {
    std::uint64_t const half = n - n / 2;
    bool const below = UpTo ? first[half - 1] <= x : first[half - 1] < x;
    first += below ? half : 0;
    n -= half;
  }
  return static_cast<std::uint64_t>(first - values);
}

/// Writes the row numbers of a table, 0 to n - 1.
struct number_sort_rows {
  array<std::uint32_t> numbers;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    numbers(i) = static_cast<std::uint32_t>(i);
  }
};

/// A table that is sorted by key.
template <class Key>
struct sorted_table {
  array<Key> keys;
  array<std::uint32_t> numbers;

  explicit sorted_table(std::uint64_t rows)
      : keys(make_array<Key>("sorted keys", rows)),
        numbers(make_array<std::uint32_t>("numbers of sorted rows", rows)) {}
  std::uint64_t size() const { return keys.extent(0); }
};

/// Finds each left row's first match in the sorted right keys, and the number of rows that it
/// contributes to the join.
template <class Key>
struct find_run {
  join_kind kind;
  array<Key> left, right;
  array<std::uint32_t> runs;
  array<std::uint64_t> rows;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const n = right.extent(0);
    std::uint64_t const first = count_below<false>(right.data(), n, left(i));
    std::uint64_t const matches = count_below<true>(right.data() + first, n - first, left(i));
    runs(i) = matches == 0 ? no_row<std::uint32_t> : static_cast<std::uint32_t>(first);
    rows(i) = rows_of_left(kind, matches);
  }
};

/// Sets `included` to 1 for the right rows that the join contains alone, without a left row.
template <class Key>
struct find_right_row {
  join_kind kind;
  array<Key> left, right;
  array<std::uint64_t> included;

  KOKKOS_FUNCTION void operator()(std::uint64_t j) const {
    std::uint64_t const n = left.extent(0);
    std::uint64_t const first = count_below<false>(left.data(), n, right(j));
    included(j) = includes_right_row(kind, first < n && left(first) == right(j));
  }
};

/// Replaces each number by the sum of the numbers before it. The array has one more element than
/// there are numbers, for the sum of all.
struct sum_before {
  array<std::uint64_t> numbers;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& at, bool final) const {
    std::uint64_t const here = numbers(i);
    if (final) numbers(i) = at;
    at += here;
    if (final && i + 2 == numbers.extent(0)) numbers(i + 1) = at;
  }
};

/// Writes `slice` neighbouring rows of the join: searches the left row of the first one, then
/// advances row by row.
struct write_slice_of_join {
  std::uint64_t slice, size, left_rows;
  bool pairs;
  array<std::uint64_t> begins;
  array<std::uint32_t> runs, left_numbers, right_numbers, left, right;

  KOKKOS_FUNCTION void operator()(std::uint64_t s) const {
    std::uint64_t const end = (s + 1) * slice < size ? (s + 1) * slice : size;
    std::uint64_t i = count_below<true>(begins.data(), left_rows + 1, s * slice) - 1;
    for (std::uint64_t p = s * slice; p < end; ++p) {
      while (begins(i + 1) <= p) ++i;
      left(p) = left_numbers(i);
      if (pairs)
        right(p) =
            runs(i) == no_row<std::uint32_t> ? runs(i) : right_numbers(runs(i) + (p - begins(i)));
    }
  }
};

/// Writes the right rows that the join contains alone, from position `begin` on.
struct write_right_rows {
  bool pairs;
  std::uint64_t begin;
  array<std::uint64_t> right_offsets;
  array<std::uint32_t> right_numbers, left, right;

  KOKKOS_FUNCTION void operator()(std::uint64_t j) const {
    if (right_offsets(j) == right_offsets(j + 1)) return;
    if (pairs) left(begin + right_offsets(j)) = no_row<std::uint32_t>;
    right(begin + right_offsets(j)) = right_numbers(j);
  }
};

template <class Key>
class sort_join_by_bisection : public sort_join<Key> {
 public:
  sort_join_by_bisection(space const& exec, std::uint64_t left, std::uint64_t right)
      : m_exec(exec),
        m_sort(exec, Kokkos::max(left, right)),
        m_numbers(make_array<std::uint32_t>("numbers of rows", Kokkos::max(left, right))),
        m_left(left),
        m_right(right),
        m_runs(make_array<std::uint32_t>("runs", left)),
        m_begins(make_array<std::uint64_t>("begins", left + 1)),
        m_right_offsets(make_array<std::uint64_t>("places", right + 1)) {
    Kokkos::parallel_for("sort_join: numbers", range(m_exec, m_numbers.extent(0)),
                         number_sort_rows{m_numbers});
  }

  void sort(array<Key> const& left, array<Key> const& right) override {
    m_sort(m_exec, left, m_numbers, m_left.keys, m_left.numbers);
    m_sort(m_exec, right, m_numbers, m_right.keys, m_right.numbers);
  }
  std::uint64_t match(join_kind kind) override {
    m_kind = kind;
    Kokkos::parallel_for("sort_join: match", range(m_exec, m_left.size()),
                         find_run<Key>{kind, m_left.keys, m_right.keys, m_runs, m_begins});
    m_of_left = sum(m_begins);
    if (!includes_right_rows()) return m_of_left;
    Kokkos::parallel_for("sort_join: right rows", range(m_exec, m_right.size()),
                         find_right_row<Key>{kind, m_left.keys, m_right.keys, m_right_offsets});
    return m_of_left + sum(m_right_offsets);
  }
  void write(array<std::uint32_t> const& left, array<std::uint32_t> const& right) override {
    constexpr std::uint64_t slice = on_host ? 1024 : 8;
    Kokkos::parallel_for(
        "sort_join: write", range(m_exec, (m_of_left + slice - 1) / slice),
        write_slice_of_join{slice, m_of_left, m_left.size(), has_pairs(m_kind), m_begins, m_runs,
                            m_left.numbers, m_right.numbers, left, right});
    if (includes_right_rows())
      Kokkos::parallel_for("sort_join: write right rows", range(m_exec, m_right.size()),
                           write_right_rows{has_pairs(m_kind), m_of_left, m_right_offsets,
                                            m_right.numbers, left, right});
  }

 private:
  bool includes_right_rows() const {
    return includes_right_row(m_kind, true) || includes_right_row(m_kind, false);
  }
  std::uint64_t sum(array<std::uint64_t> const& numbers) const {
    std::uint64_t all = 0;
    Kokkos::parallel_scan("sort_join: sum", range(m_exec, numbers.extent(0) - 1),
                          sum_before{numbers}, all);
    return all;
  }

  space m_exec;
  pair_sorter<Key, std::uint32_t> m_sort;
  array<std::uint32_t> m_numbers;
  sorted_table<Key> m_left, m_right;
  array<std::uint32_t>
      m_runs;  // for each sorted left row, the position of its first match, or no_row
  array<std::uint64_t> m_begins;  // position of each left row's first output row
  // Positions of right rows that stand alone, which follow the left rows.
  array<std::uint64_t> m_right_offsets;
  join_kind m_kind = join_kind::inner;
  std::uint64_t m_of_left = 0;
};

}  // namespace karpos::perf
