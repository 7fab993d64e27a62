// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/join.hpp"
#include "perf/measure/subjects/sort_join.hpp"
#include "perf/measure/support/parallel_sort.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

enum class row_order { of_karpos, any };

/// Numbers the rows of a correct join in the order of karpos::join: by left row, then by right row;
/// right rows that stand alone come last.
struct join_positions {
  static constexpr std::uint64_t none = ~std::uint64_t(0);

  bool pairs;
  std::uint64_t of_left;                // rows of the join that have a left row
  array<std::uint32_t> first, matches;  // of each left row: a range of the sorted right rows
  array<std::uint64_t> begins;          // of each left row: its first row in the join
  array<std::uint32_t> ranks;           // of each right row among the sorted ones
  array<std::uint32_t> alone;           // of each right row among those alone, or no_row

  /// Returns the position of a row; `none` if it does not belong to the join.
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint32_t left, std::uint32_t right) const {
    bool const has_left = left != no_row<std::uint32_t>, has_right = right != no_row<std::uint32_t>;
    if (has_left && left >= matches.extent(0)) return none;
    if (has_right && right >= ranks.extent(0)) return none;
    if (has_left && has_right) {
      std::uint32_t const match = ranks(right) - first(left);
      return match < matches(left) ? begins(left) + match : none;
    }
    if (has_right) return alone(right) == no_row<std::uint32_t> ? none : of_left + alone(right);
    bool const included = has_left && begins(left + 1) == begins(left) + 1;
    return included && !(pairs && matches(left) > 0) ? begins(left) : none;
  }
};

/// Counts rows that do not belong to a join, come twice, or are not at their position.
struct count_wrong_rows {
  join_positions position;
  row_order order;
  array<std::uint32_t> left, right;  // an empty one stands for no_row
  array<std::uint32_t> seen;         // a bit for each position, if any order is right

  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& wrong) const {
    std::uint64_t const at = position(left.extent(0) > 0 ? left(p) : no_row<std::uint32_t>,
                                      right.extent(0) > 0 ? right(p) : no_row<std::uint32_t>);
    if (order == row_order::of_karpos || at == join_positions::none) {
      wrong += at != p;
      return;
    }
    std::uint32_t const bit = std::uint32_t(1) << (at % 32);
    wrong += (Kokkos::atomic_fetch_or(&seen(at / 32), bit) & bit) != 0;
  }
};

/// The correct join, computed by sorting both tables on the host and merging them.
template <class Key>
class expected_join {
 public:
  expected_join(space const& exec, array<Key> const& left, array<Key> const& right, join_kind kind)
      : m_exec(exec) {
    std::vector<row> const rows = sorted(left), right_rows = sorted(right);
    std::vector<std::uint32_t> first(rows.size()), matches(rows.size());
    std::vector<bool> matched(right_rows.size());
    std::uint64_t begin = 0, end = 0;  // of the matches of a left row
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      if (i == 0 || rows[i].key != rows[i - 1].key) {
        begin = end;
        while (begin < right_rows.size() && right_rows[begin].key < rows[i].key) ++begin;
        for (end = begin; end < right_rows.size() && right_rows[end].key == rows[i].key; ++end)
          matched[right_rows[end].number] = true;
      }
      first[rows[i].number] = static_cast<std::uint32_t>(begin);
      matches[rows[i].number] = static_cast<std::uint32_t>(end - begin);
    }
    std::vector<std::uint64_t> begins = {0};
    for (std::uint32_t const n : matches) begins.push_back(begins.back() + rows_of_left(kind, n));
    std::vector<std::uint32_t> ranks(right_rows.size()),
        alone(right_rows.size(), no_row<std::uint32_t>);
    std::uint32_t rank = 0, count = 0;
    for (row const& r : right_rows) ranks[r.number] = rank++;
    for (std::uint64_t j = 0; j < alone.size(); ++j)
      if (includes_right_row(kind, matched[j])) alone[j] = count++;
    m_positions = {has_pairs(kind),   begins.back(),    on_device(first), on_device(matches),
                   on_device(begins), on_device(ranks), on_device(alone)};
    m_size = begins.back() + count;
  }

  std::uint64_t size() const { return m_size; }

  /// Returns the number of wrong rows in a join of n rows, or, if n is wrong, its error. A semi or
  /// anti join has rows of its own side only; those of the other side are an empty array.
  std::uint64_t wrong(row_order order, std::uint64_t n, array<std::uint32_t> const& left,
                      array<std::uint32_t> const& right) const {
    if (n != m_size) return n > m_size ? n - m_size : m_size - n;
    array<std::uint32_t> seen;
    if (order == row_order::any) {
      seen = make_array<std::uint32_t>("rows that were seen", n / 32 + 1);
      Kokkos::deep_copy(m_exec, seen, 0u);
    }
    std::uint64_t wrong = 0;
    Kokkos::parallel_reduce("karpos::perf::check_join", range(m_exec, n),
                            count_wrong_rows{m_positions, order, left, right, seen}, wrong);
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
  template <class T>
  static array<T> on_device(std::vector<T> const& numbers) {
    auto const copy = make_array<T>("expected join", numbers.size());
    Kokkos::deep_copy(copy,
                      Kokkos::View<T const*, Kokkos::HostSpace>(numbers.data(), numbers.size()));
    return copy;
  }

  space m_exec;
  join_positions m_positions;
  std::uint64_t m_size;
};

}  // namespace karpos::perf
