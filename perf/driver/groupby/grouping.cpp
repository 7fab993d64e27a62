// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/groupby/grouping.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "karpos/reduce_by_key.hpp"
#include "karpos/reproducible_plus.hpp"
#include "perf/support/on_device.hpp"

namespace karpos::perf {
namespace {

/// Addition modulo 2^64, for sums that are not used where they do not fit.
struct plus_modulo {
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};

/// The first n elements on the host.
template <class T>
auto on_host_first(array<T> const& values, std::uint64_t n) {
  return Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), Kokkos::subview(values, std::make_pair(std::uint64_t(0), n)));
}

}  // namespace

grouping::grouping(std::vector<std::uint64_t> const& keys) : m_of_rows(on_device(m_exec, keys)) {
  auto const out_keys = make_array<std::uint64_t>("keys", keys.size());
  auto const out_counts = make_array<std::uint64_t>("counts", keys.size());
  std::uint64_t const n = count_by_key(m_exec, m_of_rows, out_keys, out_counts);
  auto const k = on_host_first(out_keys, n);
  m_keys.assign(k.data(), k.data() + n);
  std::sort(m_keys.begin(), m_keys.end());
  m_counts = in_order(out_keys, out_counts);
}

/// Values of groups that are in any order.
template <class T>
std::vector<T> grouping::in_order(array<std::uint64_t> const& keys, array<T> const& values) const {
  auto const k = on_host_first(keys, m_keys.size());
  auto const v = on_host_first(values, m_keys.size());
  std::vector<T> list(m_keys.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto const at = std::lower_bound(m_keys.begin(), m_keys.end(), k(i)) - m_keys.begin();
    list[static_cast<std::size_t>(at)] = v(i);
  }
  return list;
}

template <class T, class Plus>
column_groups<T, T> grouping::reduced(std::vector<T> const& values, Plus const& plus) const {
  std::size_t const n = m_keys.size();
  auto const keys = make_array<std::uint64_t>("keys", n);
  auto const sum = make_array<T>("sums", n), least = make_array<T>("least", n),
             largest = make_array<T>("largest", n);
  reduce_by_key(
      m_exec, m_of_rows, keys,
      aggregate(on_device(m_exec, values), plus, sum, minimum{}, least, maximum{}, largest));
  return {in_order(keys, sum), in_order(keys, least), in_order(keys, largest)};
}

/// Where 64 bits may be too few, high and low halves are added by themselves.
std::vector<wide_sum> grouping::sums_of_halves(std::vector<std::int64_t> const& x) const {
  constexpr int half = 32;
  std::vector<std::int64_t> high(x.size()), low(x.size());
  std::transform(x.begin(), x.end(), high.begin(), [](auto v) { return v >> half; });
  std::transform(x.begin(), x.end(), low.begin(),
                 [](auto v) { return v & ((std::int64_t(1) << half) - 1); });
  std::size_t const n = m_keys.size();
  auto const keys = make_array<std::uint64_t>("keys", n);
  auto const highs = make_array<std::int64_t>("sums of high halves", n),
             lows = make_array<std::int64_t>("sums of low halves", n);
  reduce_by_key(m_exec, m_of_rows, keys,
                aggregates(aggregate(on_device(m_exec, high), plus{}, highs),
                           aggregate(on_device(m_exec, low), plus{}, lows)));
  auto const h = in_order(keys, highs), l = in_order(keys, lows);
  std::vector<wide_sum> sums(n);
  for (std::size_t i = 0; i < n; ++i) sums[i] = wide_sum(h[i]) * (std::int64_t(1) << half) + l[i];
  return sums;
}

integer_groups grouping::integers(number_column const& column) const {
  std::vector<std::int64_t> const& x = column.integers();
  auto const narrow = reduced(x, plus_modulo{});
  if (column.magnitude() > std::numeric_limits<std::int64_t>::max())
    return {sums_of_halves(x), narrow.least, narrow.largest};
  return {{narrow.sum.begin(), narrow.sum.end()}, narrow.least, narrow.largest};
}

real_groups grouping::reals(number_column const& column) const {
  return reduced(column.reals(), reproducible_plus{});
}

}  // namespace karpos::perf
