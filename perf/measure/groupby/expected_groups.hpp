// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "perf/measure/support/parallel_sort.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Counts groups that are not among the expected ones, occur twice, or have a wrong value. The
/// expected groups are ordered by key.
template <class Key>
struct check_groups {
  array<Key> expected_keys, expected_values;
  array<std::uint32_t> seen;
  array<Key> keys, values;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& wrong) const {
    Key const wanted = keys(i);
    std::uint64_t low = 0, high = expected_keys.extent(0);
    while (low < high) {
      std::uint64_t const middle = (low + high) / 2;
      if (expected_keys(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    bool const known = low < expected_keys.extent(0) && expected_keys(low) == wanted;
    if (!known || values(i) != expected_values(low) || Kokkos::atomic_exchange(&seen(low), 1u) != 0)
      ++wrong;
  }
};

/// The correct groups, computed by a sort on the host and ordered by key.
template <class Key>
class expected_groups {
 public:
  expected_groups(space const& exec, array<Key> const& keys, array<Key> const& values)
      : m_exec(exec) {
    std::vector<row> rows = rows_on_host(keys, values), other(rows.size());
    Kokkos::DefaultHostExecutionSpace const host;
    row const* const sorted = parallel_sort(host, rows.data(), other.data(), rows.size());
    host.fence("karpos::perf: rows are sorted");
    std::vector<Key> k, counts, sums;
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      if (i == 0 || sorted[i].first != sorted[i - 1].first) {
        k.push_back(sorted[i].first);
        counts.push_back(0);
        sums.push_back(0);
      }
      ++counts.back();
      sums.back() += sorted[i].second;
    }
    m_keys = copy_of(k);
    m_counts = copy_of(counts);
    m_sums = copy_of(sums);
    m_seen = make_array<std::uint32_t>("groups seen", k.size());
  }

  std::uint64_t size() const { return m_keys.extent(0); }
  array<Key> const& counts() const { return m_counts; }
  array<Key> const& sums() const { return m_sums; }

  /// Returns the number of wrong groups, or, if the number of groups is wrong, its error.
  /// `expected` is counts() or sums().
  std::uint64_t wrong(std::uint64_t n, array<Key> const& keys, array<Key> const& values,
                      array<Key> const& expected) const {
    if (n != size()) return n > size() ? n - size() : size() - n;
    Kokkos::deep_copy(m_exec, m_seen, 0u);
    std::uint64_t wrong = 0;
    Kokkos::parallel_reduce("karpos::perf::check_groups", range(m_exec, n),
                            check_groups<Key>{m_keys, expected, m_seen, keys, values}, wrong);
    return wrong;
  }

 private:
  using row = std::pair<Key, Key>;

  static std::vector<row> rows_on_host(array<Key> const& keys, array<Key> const& values) {
    auto const k = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), keys);
    auto const v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    std::vector<row> rows(k.extent(0));
    for (std::uint64_t i = 0; i < rows.size(); ++i) rows[i] = {k(i), v(i)};
    return rows;
  }
  array<Key> copy_of(std::vector<Key> const& list) const {
    auto const copy = make_array<Key>("expected groups", list.size());
    Kokkos::View<Key const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const from(list.data(),
                                                                                    list.size());
    Kokkos::deep_copy(m_exec, copy, from);
    m_exec.fence("karpos::perf: expected groups");
    return copy;
  }

  space m_exec;
  array<Key> m_keys, m_counts, m_sums;
  array<std::uint32_t> m_seen;
};

}  // namespace karpos::perf
