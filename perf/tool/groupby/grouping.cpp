// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/groupby/grouping.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "karpos/reduce_by_key.hpp"
#include "karpos/reproducible_plus.hpp"
#include "karpos/row_index.hpp"
#include "perf/measure/support/on_device.hpp"

namespace karpos::perf {
namespace {

/// Copies the first n elements to the host.
template <class T>
auto on_host_first(array<T> const& values, std::uint64_t n) {
  return Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), Kokkos::subview(values, std::make_pair(std::uint64_t(0), n)));
}

}  // namespace

grouping::grouping(row_keys const& keys) {
  if (keys.columns() == 1) {
    m_group_of = keys.words();
  } else if (auto const rows = keys.rows_of(0, null_equality::equal); rows.size() > 0) {
    auto const groups = make_array<std::uint32_t>("groups of rows", rows.size());
    label(m_exec, rows, groups);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), groups);
    m_group_of.assign(host.data(), host.data() + host.size());
  }
  std::size_t const rows = m_group_of.size();
  auto const groups = make_array<std::uint64_t>("groups", rows),
             counts = make_array<std::uint64_t>("counts", rows),
             first = make_array<std::uint64_t>("first rows", rows);
  std::uint64_t const n = reduce_by_key(
      m_exec, on_device(m_exec, m_group_of), groups,
      aggregates(aggregate_count(counts), aggregate(keys.numbers(), minimum{}, first)));
  auto const g = on_host_first(groups, n), c = on_host_first(counts, n),
             f = on_host_first(first, n);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return f(a) < f(b); });
  for (std::size_t place = 0; place < n; ++place) {
    m_first_rows.push_back(f(order[place]));
    m_counts.push_back(c(order[place]));
    m_places.emplace_back(g(order[place]), place);
  }
  std::sort(m_places.begin(), m_places.end());
}

/// Puts values into the order of the groups' first rows. Groups may come in any order, and some may
/// be missing.
template <class T>
std::vector<T> grouping::in_order(std::uint64_t n, array<std::uint64_t> const& groups,
                                  array<T> const& values) const {
  auto const g = on_host_first(groups, n);
  auto const v = on_host_first(values, n);
  std::vector<T> list(m_first_rows.size());
  for (std::uint64_t i = 0; i < n; ++i) {
    auto const at =
        std::lower_bound(m_places.begin(), m_places.end(), std::pair(g(i), std::size_t(0)));
    list[at->second] = v(i);
  }
  return list;
}

group_counts grouping::counts_of(words const& rows) const {
  auto const groups = make_array<std::uint64_t>("groups", m_first_rows.size());
  auto const counts = make_array<std::uint64_t>("counts", m_first_rows.size());
  std::uint64_t const n = count_by_key(m_exec, on_device(m_exec, rows), groups, counts);
  return in_order(n, groups, counts);
}
group_counts grouping::counts_of(number_column const& column) const {
  words kept;
  return column.skipped().empty() ? m_counts : counts_of(rows_with_numbers(column, kept));
}

/// Returns the group of each row that has a number in the column. If all rows have one, returns
/// m_group_of; otherwise fills and returns `kept`.
grouping::words const& grouping::rows_with_numbers(number_column const& column, words& kept) const {
  if (column.skipped().empty()) return m_group_of;
  kept.reserve(m_group_of.size() - column.skipped().size());
  auto next = column.skipped().begin();
  for (std::uint64_t row = 0; row < m_group_of.size(); ++row)
    if (next != column.skipped().end() && *next == row)
      ++next;
    else
      kept.push_back(m_group_of[row]);
  return kept;
}

template <class T, class Plus>
column_groups<T, T> grouping::reduced(words const& rows, std::vector<T> const& values,
                                      Plus const& plus) const {
  std::size_t const most = m_first_rows.size();
  auto const groups = make_array<std::uint64_t>("groups", most);
  auto const sum = make_array<T>("sums", most), least = make_array<T>("least", most),
             largest = make_array<T>("largest", most);
  std::uint64_t const n = reduce_by_key(
      m_exec, on_device(m_exec, rows), groups,
      aggregate(on_device(m_exec, values), plus, sum, minimum{}, least, maximum{}, largest));
  return {in_order(n, groups, sum), in_order(n, groups, least), in_order(n, groups, largest)};
}

/// Sums the high and low 32-bit halves separately, in case 64 bits do not suffice for the sums.
std::vector<wide_sum> grouping::sums_of_halves(words const& rows,
                                               std::vector<std::int64_t> const& x) const {
  constexpr int half = 32;
  std::vector<std::int64_t> high(x.size()), low(x.size());
  std::transform(x.begin(), x.end(), high.begin(), [](auto v) { return v >> half; });
  std::transform(x.begin(), x.end(), low.begin(),
                 [](auto v) { return v & ((std::int64_t(1) << half) - 1); });
  std::size_t const most = m_first_rows.size();
  auto const groups = make_array<std::uint64_t>("groups", most);
  auto const highs = make_array<std::int64_t>("sums of high halves", most),
             lows = make_array<std::int64_t>("sums of low halves", most);
  std::uint64_t const n =
      reduce_by_key(m_exec, on_device(m_exec, rows), groups,
                    aggregates(aggregate(on_device(m_exec, high), plus{}, highs),
                               aggregate(on_device(m_exec, low), plus{}, lows)));
  auto const h = in_order(n, groups, highs), l = in_order(n, groups, lows);
  std::vector<wide_sum> sums(h.size());
  for (std::size_t i = 0; i < h.size(); ++i)
    sums[i] = wide_sum(h[i]) * (std::int64_t(1) << half) + l[i];
  return sums;
}

integer_groups grouping::integers(number_column const& column) const {
  std::vector<std::int64_t> const& x = column.integers();
  words kept;
  words const& rows = rows_with_numbers(column, kept);
  // These 64-bit sums may wrap, and are used only if all sums fit.
  auto const narrow = reduced(rows, x, plus{});
  if (column.magnitude() > std::numeric_limits<std::int64_t>::max())
    return {sums_of_halves(rows, x), narrow.least, narrow.largest};
  return {{narrow.sum.begin(), narrow.sum.end()}, narrow.least, narrow.largest};
}

real_groups grouping::reals(number_column const& column) const {
  words kept;
  return reduced(rows_with_numbers(column, kept), column.reals(), reproducible_plus{});
}

}  // namespace karpos::perf
