// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/reduce_by_key/distinct_pairs.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/reduce_by_key.hpp"
#include "karpos/row_index.hpp"
#include "karpos/rows.hpp"

// The number of different values of each key: SQL's COUNT(DISTINCT column).
//
//   keys     | 7 | 3 | 7 | 7 | 3 |      out_keys     | 7 | 3 |
//   values   | 1 | 2 | 1 | 4 | 2 |      out_counts   | 2 | 1 |    returns 2

namespace karpos {

/// Counts the different values of each key, exactly: writes each different key once to out_keys, in
/// no particular order, and the number of its different values to out_counts, at the same index.
///
/// Keys are as those of reduce_by_key. Values have one of the types that keys may have, or are
/// nullable(values, mask) (rows.hpp), whose nulls do not count: a key that has only nulls has 0.
/// Values that are floating-point numbers: 0.0 and -0.0 are one value, and all NaNs are one.
///
/// Returns: the number of different keys. Blocks.
/// Complexity: finds the different pairs, then counts their keys. `distinct` finds pairs of 4-byte
///   keys and 4-byte values without nulls; distinct_indices (row_index.hpp), which takes longer,
///   finds all other pairs.
/// Requires, Concurrency: as reduce_by_key.
/// Memory: allocates
///   - if `distinct` finds the pairs, 16 bytes for each row and the workspace of distinct;
///   - if distinct_indices finds them, 8 bytes for each row, what distinct_indices takes, and a
///     count for each different pair;
///   - in both cases a key for each different pair, and the workspace of their reduction.
/// Throws: as reduce_by_key, and as distinct_indices.
template <execution_space ExecSpace, view_1d Keys, detail::reduce_by_key::aggregate_column Values,
          view_1d OutKeys, view_1d OutCounts>
std::uint64_t count_distinct_by_key(ExecSpace const& exec, Keys const& keys, Values const& values,
                                    OutKeys const& out_keys, OutCounts const& out_counts) {
  detail::user_call const call("count_distinct_by_key");
  using namespace detail::reduce_by_key;
  using count = typename OutCounts::value_type;
  require_keys<ExecSpace, Keys, OutKeys>();
  require_key<number_of<Values>>();
  require_value<count>();
  static_assert(std::is_integral_v<count> && !std::is_const_v<count>,
                "karpos: counts are written to a view of integers, not const");
  detail::require_reachable<ExecSpace, OutCounts>();
  detail::require_same_extent("keys", keys.extent(0), "values", extent_of(values));
  detail::require_apart("the view of different keys", out_keys, keys, values_of(values),
                        mask_range(values), out_counts);
  detail::require_apart("the view of counts", out_counts, keys, values_of(values),
                        mask_range(values));
  using key = typename Keys::non_const_value_type;
  using held_keys = device::held_by_loop<ExecSpace, Keys>;
  using held_values = device::held_by_loop<ExecSpace, Values>;
  std::string const label = "karpos::count_distinct_by_key: pairs";
  std::uint64_t const n = keys.extent(0);
  auto const allocate = [&]<class T>(std::type_identity<T>, std::uint64_t size) {
    return detail::allocate_array<Kokkos::View<T*, typename ExecSpace::memory_space>>(
        exec, label, "different pairs", "pass fewer rows", size);
  };
  auto const different = allocate(std::type_identity<std::uint64_t>{}, n);
  if constexpr (sizeof(key) == 4 && sizeof(number_of<Values>) == 4 &&
                !detail::is_nullable<Values>) {
    auto const pairs = allocate(std::type_identity<std::uint64_t>{}, n);
    device::loop_over(
        label, exec, n,
        pack_pairs<held_keys, held_values>{device::for_loop<ExecSpace>(keys),
                                           device::for_loop<ExecSpace>(values), pairs.data()});
    std::uint64_t const found = distinct(exec, pairs, different);
    auto const of_pairs = allocate(std::type_identity<key>{}, found);
    device::loop_over(label, exec, found, unpack_keys<key>{different.data(), of_pairs.data()});
    return count_by_key(exec, of_pairs, out_keys, out_counts);
  } else {
    std::uint64_t const found = distinct_indices(exec, rows(keys, values), different);
    auto const of_pairs = allocate(std::type_identity<key>{}, found);
    auto const valid = allocate(std::type_identity<count>{}, found);
    device::loop_over(label, exec, found,
                      gather_pairs<held_keys, held_values, key, count>{
                          device::for_loop<ExecSpace>(keys), device::for_loop<ExecSpace>(values),
                          different.data(), of_pairs.data(), valid.data()});
    return karpos::reduce_by_key(exec, of_pairs, valid, out_keys, out_counts);
  }
}

}  // namespace karpos
