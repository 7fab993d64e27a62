// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

// A parallel sort on a host.

namespace karpos::perf {

/// Rows split into `ranges` ranges of nearly equal size, one per thread.
template <class Row>
struct row_ranges {
  Row* rows;
  std::uint64_t size, ranges;

  Row* begin(std::uint64_t range) const { return rows + size * std::min(range, ranges) / ranges; }
};

template <class Row>
struct sort_range {
  row_ranges<Row> all;
  void operator()(std::uint64_t range) const { std::sort(all.begin(range), all.begin(range + 1)); }
};

/// Merges pairs of sorted runs of `width` ranges into runs of 2 * width ranges. Each thread writes
/// one range of the result and searches where the input of that range begins, so that all threads
/// have work up to the last merge.
template <class Row>
struct merge_range {
  row_ranges<Row> from, to;
  std::uint64_t width;

  void operator()(std::uint64_t range) const {
    std::uint64_t const run = range / (2 * width) * 2 * width;
    auto* const a = from.begin(run);
    auto* const b = from.begin(run + width);
    auto* const end = from.begin(run + 2 * width);
    std::uint64_t const low = to.begin(range) - to.begin(run),
                        high = to.begin(range + 1) - to.begin(run);
    std::uint64_t const a_low = count_from_first(a, b, end, low),
                        a_high = count_from_first(a, b, end, high);
    std::merge(a + a_low, a + a_high, b + (low - a_low), b + (high - a_high), to.begin(range));
  }
  /// Returns how many of the first n rows of the merged run come from [a, b).
  static std::uint64_t count_from_first(Row const* a, Row const* b, Row const* end,
                                        std::uint64_t n) {
    std::uint64_t const in_a = b - a, in_b = end - b;
    std::uint64_t low = n > in_b ? n - in_b : 0, high = std::min(n, in_a);
    while (low < high) {
      std::uint64_t const middle = (low + high) / 2;
      if (b[n - middle - 1] < a[middle])
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

/// Sorts n rows: std::sort of one range per thread, then parallel merges between `rows` and
/// `buffer`, which has the same capacity. Returns where the sorted rows are: `rows` or `buffer`.
template <class Row, class HostSpace>
Row* parallel_sort(HostSpace const& exec, Row* rows, Row* buffer, std::uint64_t n) {
  auto const ranges = static_cast<std::uint64_t>(exec.concurrency());
  Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::uint64_t>> const all(exec, 0, ranges);
  row_ranges<Row> from{rows, n, ranges}, to{buffer, n, ranges};
  Kokkos::parallel_for("karpos::perf: sort", all, sort_range<Row>{from});
  for (std::uint64_t width = 1; width < ranges; width *= 2) {
    Kokkos::parallel_for("karpos::perf: merge", all, merge_range<Row>{from, to, width});
    std::swap(from, to);
  }
  return from.rows;
}

}  // namespace karpos::perf
