// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/distributed/split_rows.hpp"
#include "karpos/detail/key_sample.hpp"
#include "karpos/detail/reduced_insertion.hpp"
#include "karpos/reduce_by_key.hpp"
#include "karpos/table_options.hpp"

// Rows of a rank whose keys are equal become one before they travel.

namespace karpos::detail::distributed {

/// Whether reduce_by_key takes keys and values of these types.
template <class Key, class T>
inline constexpr bool can_combine =
    (std::is_arithmetic_v<Key> || std::is_enum_v<Key>)&&(sizeof(Key) == 4 || sizeof(Key) == 8) &&
    std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// Whether that pays: a sample of the keys tells, where there are enough of them. A row that is not sent saves its way to the
/// owner and its insertion there; the reduction costs about as much as both.
template <class ExecSpace, class T, class Op, class Keys>
bool pays_to_combine(ExecSpace const& exec, Keys const& keys) {
  using tuned = reduced_tuning<ExecSpace, T, Op>;
  using key = typename Keys::non_const_value_type;
  if (keys.extent(0) < tuned::min_rows) return false;
  using row = typename reduce_by_key::row_type<key, T>::type;
  auto const to = distributed::allocate<key_sample>(exec, "karpos::distributed: sample", 1);
  take_sample(exec, reduce_by_key::keys_with_value<row, Keys>{keys, T{}},
              tuned::sample_of(keys.extent(0)), to.data());
  auto const sample = read_back(exec, to.data(), "karpos::distributed: sample of keys");
  return sample.different * 2 <= sample.keys || has_few_groups<tuned>(sample, keys.extent(0));
}

/// Different keys, and what op makes of their values.
template <class ExecSpace, class Key, class T>
struct groups {
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<Key*, memory_space> keys;
  Kokkos::View<T*, memory_space> values;
};

/// Reduces rows of this rank by key. Waits.
template <class ExecSpace, class Keys, class Values, class Op>
auto reduce_rows(ExecSpace const& exec, Keys const& keys, Values const& values, Op const& op) {
  using key = typename Keys::non_const_value_type;
  using value = typename Values::non_const_value_type;
  std::uint64_t const n = keys.extent(0);
  groups<ExecSpace, key, value> g{
      distributed::allocate<key>(exec, "karpos::distributed: different keys", n),
      distributed::allocate<value>(exec, "karpos::distributed: reduced values", n)};
  std::uint64_t const found = karpos::reduce_by_key(exec, keys, values, g.keys, g.values, op);
  g.keys = Kokkos::subview(g.keys, Kokkos::make_pair(std::uint64_t(0), found));
  g.values = Kokkos::subview(g.values, Kokkos::make_pair(std::uint64_t(0), found));
  return g;
}

}  // namespace karpos::detail::distributed
