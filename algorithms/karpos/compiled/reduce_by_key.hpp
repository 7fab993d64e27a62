// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/compiled/types.hpp"
#include "karpos/concepts.hpp"
#include "karpos/operations.hpp"

// Compiled calls: karpos/compiled.hpp.

namespace karpos::compiled {

namespace detail {
template <class Key, class T, class Op>
std::uint64_t reduce_by_key(execution_space const& exec, input<Key> const& keys,
                            input<T> const& values, output<Key> const& out_keys,
                            output<T> const& out_values, Op const& op);
template <class Key, class Count>
std::uint64_t count_by_key(execution_space const& exec, input<Key> const& keys,
                           output<Key> const& out_keys, output<Count> const& out_counts);
}  // namespace detail

/// Reduces the values of equal keys (reduce_by_key.hpp), by plus, minimum or maximum. Allocates its
/// workspace.
template <view_1d Keys, view_1d Values, view_1d OutKeys, view_1d OutValues, class Op = plus>
std::uint64_t reduce_by_key(execution_space const& exec, Keys const& keys, Values const& values,
                            OutKeys const& out_keys, OutValues const& out_values,
                            Op const& op = {}) {
  using key_type = typename Keys::non_const_value_type;
  using mapped_type = typename Values::non_const_value_type;
  detail::require_types<key_type, mapped_type>();
  static_assert(detail::one_of<Op, plus, minimum, maximum>,
                "karpos: compiled reductions are by plus, minimum or maximum: for other operations "
                "include karpos/reduce_by_key.hpp");
  return detail::reduce_by_key<key_type, mapped_type, Op>(exec, keys, values, out_keys, out_values,
                                                          op);
}

/// Counts how often each key occurs (reduce_by_key.hpp), in integers. Allocates its workspace.
template <view_1d Keys, view_1d OutKeys, view_1d OutCounts>
std::uint64_t count_by_key(execution_space const& exec, Keys const& keys, OutKeys const& out_keys,
                           OutCounts const& out_counts) {
  using key_type = typename Keys::non_const_value_type;
  using count = typename OutCounts::value_type;
  detail::require_types<key_type, count>();
  static_assert(key<count>, "karpos: counts are written to a view of integers, not const");
  return detail::count_by_key<key_type, count>(exec, keys, out_keys, out_counts);
}

}  // namespace karpos::compiled
