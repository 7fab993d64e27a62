// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

// Expansion: row i, in order, stands for offsets[i + 1] - offsets[i] elements, none, one or many.
//
//   offsets   | 0 | 2 | 2 | 2 | 5 | 6 |
//   element   | 0 : row 0 | 1 : row 0 | 2 : row 3 | 3 : row 3 | 4 : row 3 | 5 : row 4 |
//
// Work is split by elements (load-balancing search). A thread that begins at an element searches
// the offsets for its row, and goes on from there. So several threads share a row of many elements.
// Rows without elements are skipped by a search that doubles its steps.

namespace karpos::detail::join {

/// Returns the last index in [first, end) whose value is at most `wanted`. Requires: values ascend,
/// and values[first] <= wanted.
KOKKOS_INLINE_FUNCTION std::uint64_t last_at_most(std::uint64_t const* values, std::uint64_t wanted,
                                                  std::uint64_t first, std::uint64_t end) {
  while (end - first > 1) {
    std::uint64_t const middle = first + (end - first) / 2;
    if (values[middle] <= wanted)  // as one assignment, clang would keep both in memory
      first = middle;
    else
      end = middle;
  }
  return first;
}

struct expansion {
  /// Begin of each row, and behind the last row the number of elements; null: row i is element i.
  std::uint64_t* offsets;
  std::uint64_t rows;

  KOKKOS_FUNCTION std::uint64_t row_of(std::uint64_t element) const {
    return last_at_most(offsets, element, 0, rows);
  }
  /// Returns the row of an element. Requires: that row is `row` or a later one.
  KOKKOS_FUNCTION std::uint64_t row_from(std::uint64_t row, std::uint64_t element) const {
    std::uint64_t step = 1;
    while (row + step < rows && offsets[row + step] <= element) {
      row += step;
      step *= 2;
    }
    return last_at_most(offsets, element, row, Kokkos::min(row + step, rows));
  }
  /// Calls f(element, row, number in the row) for elements [first, last), in order.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(std::uint64_t first, std::uint64_t last,
                                            F const& f) const {
    if (first >= last) return;
    // One call of f, so that compilers inline it: row i may be element i.
    bool const identity = offsets == nullptr;
    std::uint64_t row = identity ? first : row_of(first);
    for (std::uint64_t element = first;;) {
      std::uint64_t const begin = identity ? first : offsets[row],
                          end = identity ? last : Kokkos::min(offsets[row + 1], last);
      for (; element < end; ++element)
        f(element, identity ? element : row, identity ? 0 : element - begin);
      if (element == last) return;
      row = row_from(row + 1, element);
    }
  }
};

}  // namespace karpos::detail::join
