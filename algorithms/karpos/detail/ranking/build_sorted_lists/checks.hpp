// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/sorted_lists.hpp"

// Checks the table of scores that sorted lists are made of.

namespace karpos::detail::build_sorted_lists {

/// Finds the first score that is NaN, object by object.
template <class Table>
struct find_nan {
  Table table;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    auto const score = table(i / table.extent(1), i % table.extent(1));
    if (score != score && i < first) first = i;
  }
};

template <class ExecSpace, class Table>
void require_no_nan(ExecSpace const& exec, Table const& table) {
  std::uint64_t const lists = table.extent(1), none = ~std::uint64_t(0);
  std::uint64_t first = none;
  Kokkos::parallel_reduce("karpos::build_sorted_lists: check",
                          index_range(exec, table.extent(0) * lists), find_nan<Table>{table},
                          Kokkos::Min<std::uint64_t>(first));
  if (first == none || table.extent(0) * lists == 0) return;
  reject("a score is not a number",
         "NaN of object " + std::to_string(first / lists) + " in list " +
             std::to_string(first % lists),
         "replace it, or make lists without the object and use missing_score");
}

template <class Table>
void require_size(Table const& table) {
  std::uint64_t const max_objects = (std::uint64_t(1) << 32) - 64;
  if (table.extent(1) > max_lists)
    reject("too many sorted lists", std::to_string(table.extent(1)) + " columns",
           "rank at most " + std::to_string(max_lists) + " together");
  if (table.extent(0) > max_objects)
    reject("sorted lists have too many objects for dense ids", std::to_string(table.extent(0)),
           "at most 2^32 - 64");
}

}  // namespace karpos::detail::build_sorted_lists
