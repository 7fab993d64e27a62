// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

// A parallel sort on a host.

namespace karpos::perf {

/// Rows split into `parts` ranges of nearly equal size, one per thread.
template <class Row>
struct parts_of {
  Row* rows;
  std::uint64_t size, parts;

  Row* begin(std::uint64_t part) const { return rows + size * std::min(part, parts) / parts; }
};

template <class Row>
struct sort_part {
  parts_of<Row> all;
  void operator()(std::uint64_t part) const { std::sort(all.begin(part), all.begin(part + 1)); }
};

/// Merges pairs of sorted runs of `width` parts into runs of 2 * width parts. Each thread writes
/// one part of the result and searches where that part's input begins, so that all threads have
/// work up to the last merge.
template <class Row>
struct merge_part {
  parts_of<Row> from, to;
  std::uint64_t width;

  void operator()(std::uint64_t part) const {
    std::uint64_t const run = part / (2 * width) * 2 * width;
    auto* const a = from.begin(run);
    auto* const b = from.begin(run + width);
    auto* const end = from.begin(run + 2 * width);
    std::uint64_t const low = to.begin(part) - to.begin(run),
                        high = to.begin(part + 1) - to.begin(run);
    std::uint64_t const a_low = of_first(a, b, end, low), a_high = of_first(a, b, end, high);
    std::merge(a + a_low, a + a_high, b + (low - a_low), b + (high - a_high), to.begin(part));
  }
  /// Returns how many of the first n rows of the merged run come from [a, b).
  static std::uint64_t of_first(Row const* a, Row const* b, Row const* end, std::uint64_t n) {
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

/// Sorts n rows: std::sort of one part per thread, then parallel merges between `rows` and `other`,
/// which has the same capacity. Returns where the sorted rows are: `rows` or `other`.
template <class Row, class HostSpace>
Row* parallel_sort(HostSpace const& exec, Row* rows, Row* other, std::uint64_t n) {
  auto const parts = static_cast<std::uint64_t>(exec.concurrency());
  Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::uint64_t>> const all(exec, 0, parts);
  parts_of<Row> from{rows, n, parts}, to{other, n, parts};
  Kokkos::parallel_for("karpos::perf: sort", all, sort_part<Row>{from});
  for (std::uint64_t width = 1; width < parts; width *= 2) {
    Kokkos::parallel_for("karpos::perf: merge", all, merge_part<Row>{from, to, width});
    std::swap(from, to);
  }
  return from.rows;
}

}  // namespace karpos::perf
